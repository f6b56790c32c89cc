// The block of bytes of a frame, cut into typed arrays (protocol.md, "A frame").

const TYPES = { float64: Float64Array, float32: Float32Array, int32: Int32Array, int8: Int8Array, uint8: Uint8Array };

/** The block as bytes that start at an aligned address, whatever the shell handed over. */
export function alignedBytes(buffers) {
  if (!buffers || buffers.length === 0) return new Uint8Array(0);
  const first = buffers[0];
  const bytes = first instanceof ArrayBuffer
    ? new Uint8Array(first)
    : new Uint8Array(first.buffer, first.byteOffset, first.byteLength);
  return bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
}

/** The array that [dtype, offset, length] means. It shares the block's memory: copy what is kept. */
export function cut(bytes, place) {
  const [dtype, offset, length] = place;
  const Type = TYPES[dtype];
  if (!Type) throw new Error("the frame has an array of unknown type " + dtype);
  return new Type(bytes.buffer, bytes.byteOffset + offset, length);
}
