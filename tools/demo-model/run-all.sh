#!/usr/bin/env bash
# The whole recipe in one command: tokenizer, data, training, export, evaluation, packing.
#
#   run-all.sh --work DIR --out DIR [--recipe full|refine|smoke] [--from DIR] [--budget SECONDS] [--train-seconds SECONDS]
#
# --from: files of an earlier run, whose weights and tokenizer this one begins with.
# --work keeps everything; the same command goes on where the last one stopped. --out gets at most four
# files: two shards, run.tar.gz (tokenizer, configs, logs, results), status.txt. --budget is the wall
# clock of this call: when it is too short, training stops in time, a checkpoint stays, and exit code 3
# says that the same command must be given again.
set -euo pipefail

recipe=full work='' out='' from='' budget=570 train_seconds=''
while [ $# -gt 0 ]; do
  case "$1" in
    --recipe) recipe=$2 ;;
    --work) work=$2 ;;
    --out) out=$2 ;;
    --from) from=$(realpath "$2") ;;
    --budget) budget=$2 ;;
    --train-seconds) train_seconds=$2 ;;
    *) echo "run-all.sh: unknown option $1" >&2; exit 2 ;;
  esac
  shift 2
done
[ -n "$work" ] && [ -n "$out" ] || { echo 'run-all.sh: --work DIR and --out DIR are needed' >&2; exit 2; }

began=$(date +%s)
mkdir -p "$work" "$out"
work=$(realpath "$work") out=$(realpath "$out")
cd "$(dirname "$0")"
python=${PYTHON:-python3}
cores=$(nproc)
makers=$((cores > 4 ? cores - 3 : 1))
# Rows of many lengths: segments that grow are found again, others would be asked for at each new length.
export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
export PYTHONUNBUFFERED=1 TOKENIZERS_PARALLELISM=false HF_HUB_OFFLINE=1
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-$((cores > 4 ? 2 : 1))}
finish_seconds=75  # kept for export, evaluation and packing
[ "$recipe" = smoke ] && finish_seconds=80

left() { echo $((budget - ($(date +%s) - began))); }
stage() { echo "== $1, $(left) s left"; echo "$(date -u +%H:%M:%S) $1" >>"$work/stages.log"; }

pack() {
  stage 'pack'
  rm -rf "$work/pack"; mkdir -p "$work/pack/model"
  [ -f "$work/exported.json" ] && cp "$work/model"/* "$work/pack/model/" && mv "$work/pack/model"/*.safetensors "$out/"
  for file in tokenizer.json tokenizer_config.json train.jsonl exported.json evaluation.json answers.jsonl stages.log data.log self-check.log; do
    [ -f "$work/$file" ] && cp "$work/$file" "$work/pack/"
  done
  if [ -n "$from" ]; then
    mkdir "$work/pack/first"
    cp "$work/first"/{train.jsonl,evaluation.json,stages.log,data.log} "$work/pack/first/"
  fi
  tar -C "$work/pack" -czf "$out/run.tar.gz" .
  ls -l "$out"
}

stop() { # code, words
  echo "$2" | tee "$out/status.txt"
  pack
  exit "$1"
}

start=()
if [ -n "$from" ]; then
  mkdir -p "$work/first"
  tar -xzf "$from/run.tar.gz" -C "$work/first"
  cp "$from"/*.safetensors "$work/first/model/"
  cp -n "$work/first/"tokenizer*.json "$work/"
  start=(--from "$work/first/model")
fi

stage 'host'
"$python" -c 'import platform, torch, transformers, tokenizers
print(platform.python_version(), torch.__version__, transformers.__version__, tokenizers.__version__,
      torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu")' | tee -a "$work/stages.log"

if [ ! -f "$work/checked" ]; then
  stage 'self-check'
  timeout 120 "$python" -m unittest -q test.test_network test.test_train 2>"$work/self-check.log" ||
    { tail -40 "$work/self-check.log"; stop 1 'self-check failed: the network on this machine is not what it must be'; }
  touch "$work/checked"
fi

stage 'tokenizer'
timeout 240 "$python" -m demo_model.prepare tokenizer --recipe "$recipe" --out "$work"

if [ ! -f "$work/trained" ]; then
  stage 'data, beside training'
  setsid "$python" -m demo_model.prepare shards --recipe "$recipe" --out "$work" --processes "$makers" \
    >>"$work/data.log" 2>&1 &
  maker=$!
  # Its workers too: they would go on with the shards that were already handed to them.
  stop_maker() { kill -- "-$maker" 2>/dev/null || true; }
  trap stop_maker EXIT
  stage 'train'
  stop_after=$(($(left) - finish_seconds))
  [ "$stop_after" -gt 40 ] || stop 3 'unfinished: no time is left for training; give the same command again'
  # Without --train-seconds the schedule ends within this call; once begun, it stays what it is.
  if [ ! -f "$work/train-seconds" ]; then
    longest=$("$python" -c "from demo_model.sizes import RECIPES as r; print(int(r['$recipe'].schedule.seconds))")
    fitting=$((stop_after - 20))
    echo "${train_seconds:-$((longest < fitting ? longest : fitting))}" >"$work/train-seconds"
  fi
  train_seconds=$(cat "$work/train-seconds")
  code=0
  "$python" -m demo_model.train --recipe "$recipe" --out "$work" --stop-after "$stop_after" \
    --seconds "$train_seconds" "${start[@]}" || code=$?
  stop_maker
  if [ "$code" = 3 ]; then stop 3 'unfinished: training stopped in time; give the same command again'; fi
  [ "$code" = 0 ] || stop "$code" "training failed with exit code $code"
  touch "$work/trained"
fi

if [ ! -f "$work/exported.json" ]; then
  stage 'export'
  "$python" -m demo_model.evaluate --recipe "$recipe" --out "$work" --stage export
fi
stage 'answers'
code=0
timeout "$(($(left) > 60 ? $(left) - 15 : 60))" \
  "$python" -m demo_model.evaluate --recipe "$recipe" --out "$work" --stage answer || code=$?
if [ "$code" = 124 ]; then stop 3 'unfinished: the answers ran out of time; give the same command again'; fi
[ "$code" = 0 ] || stop "$code" "evaluation failed with exit code $code"
stop 0 'finished'
