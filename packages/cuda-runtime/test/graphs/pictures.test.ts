import { expect } from 'vitest';
import { describeEachBackend } from '../../src/testing/index.js';
import { type GraphRow, GraphScene } from '../makers/graph-scene.js';

const rows: readonly GraphRow[] = [
  {
    name: 'child graphs and bodies are clusters, and the text is the same in every run',
    run(scene) {
      const draw = () => {
        const graph = scene.device.createGraph();
        const child = scene.device.createGraph();
        const first = child.addEmpty();
        child.addEmpty([first]);
        const node = graph.addChild(child);
        const { then } = graph.addIf(graph.createCondition(), [node], { else: true });
        scene.empty(then);
        return graph.toDot();
      };
      expect(draw()).toBe(`digraph graph_nodes {
  node [shape=box, style=filled, fontname=sans];
  n0 [label="child", fillcolor="#ffffff"];
  n1 [label="if-else", fillcolor="#ffffff"];
  subgraph cluster_n0_0 {
    label="child of 0";
    n0_0_0 [label="empty", fillcolor="#ffffff"];
    n0_0_1 [label="empty", fillcolor="#ffffff"];
    n0_0_0 -> n0_0_1;
  }
  subgraph cluster_n1_0 {
    label="body 0 of 1";
    n1_0_0 [label="kernel · test_empty · 1×1", fillcolor="#ffffff"];
  }
  subgraph cluster_n1_1 {
    label="body 1 of 1";
  }
  n0 -> n1;
}
`);
      expect(draw()).toBe(draw());
    },
  },
  {
    name: 'the driver draws its own graph on CUDA; elsewhere there is none to ask',
    async run(scene) {
      const graph = scene.device.createGraph();
      graph.addEmpty([scene.empty(graph)]);
      const exec = graph.instantiateSync();
      const drawn = exec.driverDot();
      if (scene.runtime.backend === 'cpu') {
        await expect(drawn).rejects.toMatchObject({ code: 'CRT_ARGUMENT' });
        await expect(exec.driverDot()).rejects.toThrow(
          /graphExec.driverDot: the cpu backend has no driver.*`graph.toDot\(\)`/,
        );
      } else {
        const text = await drawn;
        expect(text).toMatch(/^digraph/);
        expect(text).toContain('test_empty');
        const brief = await exec.driverDot({ verbose: false });
        expect(brief).toMatch(/^digraph/);
        expect(brief.length).toBeLessThan(text.length);
      }
      for (const drawable of [exec, graph]) {
        const verbose = 1 as unknown as boolean;
        await expect(drawable.driverDot({ verbose })).rejects.toThrow(/`verbose` is 1/);
        await expect(drawable.driverDot({ brief: true } as object)).rejects.toThrow(/brief/);
      }
      exec.dispose();
      await expect(exec.driverDot()).rejects.toMatchObject({ code: 'CRT_DISPOSED' });
      const before = scene.runtime.stats().live;
      if (scene.runtime.backend === 'cpu') {
        await expect(graph.driverDot()).rejects.toThrow(
          /graph.driverDot: the cpu backend has no driver.*`graph.toDot\(\)`/,
        );
      } else {
        expect(await graph.driverDot()).toContain('test_empty');
      }
      expect(scene.runtime.stats().live).toEqual(before);
      graph.dispose();
      await expect(graph.driverDot()).rejects.toMatchObject({ code: 'CRT_DISPOSED' });
    },
  },
  {
    name: 'the SVG shows explicit nodes in a column of their own',
    run(scene) {
      const graph = scene.device.createGraph();
      graph.addEmpty([scene.empty(graph)]);
      expect(graph.toSvg().match(/<rect [^>]*rx="4"/g)).toHaveLength(2);
    },
  },
  {
    name: 'the SVG shows nodes that nothing orders side by side, none behind another',
    run(scene) {
      const graph = scene.device.createGraph();
      const branches = [graph.addEmpty(), graph.addEmpty(), graph.addEmpty()];
      graph.addEmpty(branches);
      const svg = graph.toSvg();
      const boxes = svg.match(/<rect x="\d+" y="\d+"/g) ?? [];
      expect(boxes).toHaveLength(4);
      expect(new Set(boxes).size).toBe(4);
      const width = Number(/<svg [^>]* width="(\d+)"/.exec(svg)?.[1]);
      const lefts = boxes.map((box) => Number(/x="(\d+)"/.exec(box)?.[1]));
      expect(Math.max(...lefts) + 170).toBeLessThan(width);
    },
  },
];

describeEachBackend('pictures of explicit graphs', rows, async (context, row) =>
  row.run(await GraphScene.open(context)),
);
