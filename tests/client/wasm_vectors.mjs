// wasm_vectors.mjs: the vectors through sotto-client.wasm, byte for byte.
//
//     node wasm_vectors.mjs sotto-client.wasm tests/vectors
//
// The plain WebAssembly API, and memory handed out from __heap_base: what a
// browser would do. The one import gives each vector's own entropy. Then
// files that are cut short or changed: refused, and never a trap.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { strict as assert } from "node:assert";

const [wasmPath, folder] = process.argv.slice(2);
const OK = 0;
const ENTROPY = 2;
const ERROR_SIZE = 4 + 4 + 112 + 496; // struct sotto_error on wasm32
const VALUE_SIZE = 24; // struct sotto_value: kind, number, data, size
const KIND = { missing: 0, number: 1, text: 2, bytes: 3 };

const tape = { bytes: new Uint8Array(0), used: 0 };
let memory;

function sotto_entropy(at, size) {
  if (tape.bytes.length - tape.used < size) return -1;
  const piece = tape.bytes.subarray(tape.used, tape.used + size);
  new Uint8Array(memory.buffer).set(piece, at);
  tape.used += size;
  return 0;
}

const module = new WebAssembly.Module(readFileSync(wasmPath));
const wasm = new WebAssembly.Instance(module, { env: { sotto_entropy } })
  .exports;
memory = wasm.memory;

// A heap that only grows; each vector starts it anew.
let top = 0;

function allocate(size) {
  const at = (top + 15) & ~15;
  top = at + Math.max(size, 1);
  const missing = top - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / 65536));
  return at;
}

function place(bytes) {
  const at = allocate(bytes.length);
  new Uint8Array(memory.buffer).set(bytes, at);
  return at;
}

const view = () => new DataView(memory.buffer);
const word = (at) => view().getUint32(at, true);

// Workspace poisoned, so that nothing rests on its being zero.
function open(file) {
  const at = place(file);
  const results = allocate(8);
  const err = allocate(ERROR_SIZE);
  let status = wasm.sotto_client_size(at, file.length, results, err);
  if (status !== OK) return { status, position: word(err + 4) };
  const need = word(results);
  const workspace = allocate(need);
  new Uint8Array(memory.buffer).fill(0xa5, workspace, workspace + need);
  status = wasm.sotto_client_open(at, file.length, 0, workspace, need,
    results + 4, err);
  if (status !== OK) return { status, position: word(err + 4) };
  return { status, client: word(results + 4), workspace, need };
}

function kindOf(value) {
  if (value === null) return "missing";
  return Object.keys(value)[0];
}

function placeRecord(record) {
  const at = allocate(VALUE_SIZE * record.length);
  record.forEach((value, i) => {
    const kind = kindOf(value);
    const slot = at + VALUE_SIZE * i;
    const bytes = kind === "text" ? Buffer.from(value.text, "utf8")
      : kind === "bytes" ? Buffer.from(value.bytes, "hex") : null;
    const data = bytes === null ? 0 : place(bytes);
    view().setInt32(slot, KIND[kind], true);
    view().setFloat64(slot + 8, kind === "number" ? Number(value.number) : 0,
      true);
    view().setUint32(slot + 16, data, true);
    view().setUint32(slot + 20, bytes === null ? 0 : bytes.length, true);
  });
  return at;
}

function privatise(client, vector, entropy) {
  const values = placeRecord(vector.record);
  const size = wasm.sotto_client_report_size(client);
  const report = allocate(size);
  tape.bytes = entropy;
  tape.used = 0;
  const status = wasm.sotto_client_privatise(client, values,
    vector.record.length, report, size);
  return { status,
    report: Buffer.from(new Uint8Array(memory.buffer, report, size)) };
}

function checkVector(vector) {
  top = wasm.__heap_base.value;
  const entropy = Buffer.from(vector.entropy, "hex");
  const opened = open(Buffer.from(vector.mechanism, "base64"));
  assert.equal(opened.status, OK);
  assert.equal(wasm.sotto_client_columns(opened.client), vector.record.length);
  const made = privatise(opened.client, vector, entropy);
  assert.equal(made.status, OK);
  assert.equal(made.report.toString("hex"), vector.report);
  assert.equal(tape.used, entropy.length);
  const hash = new Uint8Array(memory.buffer,
    wasm.sotto_client_hash(opened.client), 32);
  assert.equal(Buffer.from(hash).toString("hex"), vector.report.slice(8, 72));

  const failed = privatise(opened.client, vector,
    entropy.subarray(0, entropy.length - 1));
  assert.equal(failed.status, ENTROPY);
  assert.ok(failed.report.every((byte) => byte === 0));
  wasm.sotto_client_close(opened.client);
  const left = new Uint8Array(memory.buffer, opened.workspace, opened.need);
  assert.ok(left.every((byte) => byte === 0));
}

// A trap would be an exception here.
function checkHostile(vector) {
  const file = Buffer.from(vector.mechanism, "base64");
  let tried = 0;
  const attempt = (bytes, mayOpen) => {
    top = wasm.__heap_base.value;
    const { status, position } = open(bytes);
    assert.ok(mayOpen || status !== OK);
    assert.ok(status === OK || position <= bytes.length);
    tried++;
  };
  for (let size = 0; size < file.length; size++) {
    attempt(file.subarray(0, size), false);
  }
  attempt(Buffer.concat([file, Buffer.alloc(1)]), false);
  for (let i = 0; i < file.length; i += 5) {
    const changed = Buffer.from(file);
    changed[i] ^= 1 << (i % 8);
    attempt(changed, true);
  }
  for (const length of [1n << 31n, 1n << 32n, 1n << 63n, (1n << 64n) - 8n]) {
    const changed = Buffer.from(file);
    changed.writeBigUInt64LE(length);
    attempt(changed, false);
  }
  return tried;
}

const vectors = readdirSync(folder).filter((name) => name.endsWith(".json"))
  .sort().map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")));
assert.ok(vectors.length >= 10);
let tried = 0;
for (const vector of vectors) {
  try {
    checkVector(vector);
    tried += checkHostile(vector);
  } catch (error) {
    console.error(`${vector.name}: ${error.stack}`);
    process.exit(1);
  }
}
console.log(`${vectors.length} vectors, ${tried} hostile files`);
