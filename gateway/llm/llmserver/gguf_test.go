package llmserver

import (
	"bytes"
	"encoding/binary"
	"io"
)

// Types of the GGUF format, version 3.
const (
	ggufUint32  uint32 = 4
	ggufInt32   uint32 = 5
	ggufFloat32 uint32 = 6
	ggufBool    uint32 = 7
	ggufString  uint32 = 8
	ggufArray   uint32 = 9

	ggufAlignment = 32
)

// gguf builds a model file in memory.
type gguf struct {
	meta    bytes.Buffer
	metas   uint64
	infos   bytes.Buffer
	tensors uint64
	data    bytes.Buffer
}

func put(b *bytes.Buffer, v any) {
	if err := binary.Write(b, binary.LittleEndian, v); err != nil {
		panic(err) // a buffer cannot fail; only a type without a fixed size gets here
	}
}

func putString(b *bytes.Buffer, s string) {
	put(b, uint64(len(s)))
	b.WriteString(s)
}

// set adds one key of the metadata: a string, bool, uint32 or float32, or a slice of string, int32
// or float32.
func (g *gguf) set(key string, value any) {
	g.metas++
	putString(&g.meta, key)
	list := func(kind uint32, n int) {
		put(&g.meta, ggufArray)
		put(&g.meta, kind)
		put(&g.meta, uint64(n))
	}
	switch v := value.(type) {
	case string:
		put(&g.meta, ggufString)
		putString(&g.meta, v)
	case bool:
		put(&g.meta, ggufBool)
		put(&g.meta, v)
	case uint32:
		put(&g.meta, ggufUint32)
		put(&g.meta, v)
	case float32:
		put(&g.meta, ggufFloat32)
		put(&g.meta, v)
	case []string:
		list(ggufString, len(v))
		for _, s := range v {
			putString(&g.meta, s)
		}
	case []int32:
		list(ggufInt32, len(v))
		put(&g.meta, v)
	case []float32:
		list(ggufFloat32, len(v))
		put(&g.meta, v)
	default:
		panic("gguf: no such type of metadata")
	}
}

// tensor adds a float32 tensor; dims has the innermost dimension first.
func (g *gguf) tensor(name string, values []float32, dims ...uint64) {
	g.tensors++
	putString(&g.infos, name)
	put(&g.infos, uint32(len(dims)))
	put(&g.infos, dims)
	put(&g.infos, uint32(0)) // GGML_TYPE_F32
	put(&g.infos, uint64(g.data.Len()))
	put(&g.data, values)
	pad(&g.data, g.data.Len())
}

// pad appends zeros to b up to the alignment; at is the position in the file.
func pad(b *bytes.Buffer, at int) {
	if rest := at % ggufAlignment; rest != 0 {
		b.Write(make([]byte, ggufAlignment-rest))
	}
}

func (g *gguf) writeTo(w io.Writer) error {
	var head bytes.Buffer
	head.WriteString("GGUF")
	put(&head, uint32(3))
	put(&head, g.tensors)
	put(&head, g.metas)
	head.Write(g.meta.Bytes())
	head.Write(g.infos.Bytes())
	pad(&head, head.Len())
	if _, err := w.Write(head.Bytes()); err != nil {
		return err
	}
	_, err := w.Write(g.data.Bytes())
	return err
}
