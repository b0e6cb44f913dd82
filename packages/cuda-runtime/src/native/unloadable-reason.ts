/**
 * Which reason fits an addon that no candidate could load. A binary for another libc
 * fails inside the dynamic linker, whose words differ between glibc and musl.
 *
 * @param messages what each candidate said
 */
export function unloadableReason(messages: readonly string[]): 'LIBC' | 'NO_ADDON' {
  const isLibc = messages.some((message) =>
    /: LIBC: |version `GLIBC(XX)?_[\d.]+' not found|ld-linux|Error relocating|symbol not found/.test(
      message,
    ),
  );
  return isLibc ? 'LIBC' : 'NO_ADDON';
}
