/** Where a kernel package's artefacts are: by package, or the manifest itself. */
export type ModuleSource =
  | {
      /** npm name of the kernel package, e.g. `@altstream/dense-kernels`. */
      readonly package: string;
      /** `import.meta.url` of a file of that package. */
      readonly from: string;
    }
  | {
      /** Absolute path of a manifest.json; its artefacts lie beside it. */
      readonly manifest: string;
    };
