package llmserver

import (
	_ "embed"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

const (
	// MaxPlan is the number of bytes that the model can output in one step, including the markup of
	// thoughts and calls.
	MaxPlan = window - 2 // the marks that end the plan and open the answer

	// window is the distance, in tokens, at which the model looks back: the length of the plan at
	// the end of a prompt.
	window = 1024

	width      = 128 // of the embedding and of the one attention head
	maxContext = 65536
)

//go:embed template.jinja
var template string

// Marks of the chat template; each is one token. The last one ends an answer.
var marks = []string{"<|system|>", "<|user|>", "<|assistant|>", "<|tool|>", "<|plan|>", "<|pad|>", "<|end|>"}

// WriteScripted writes the model file, about 400 kB. Its bytes are always the same.
func WriteScripted(w io.Writer) error {
	g := new(gguf)
	g.set("general.architecture", "llama")
	g.set("general.name", "scripted")
	g.set("llama.block_count", uint32(1))
	g.set("llama.context_length", uint32(maxContext))
	g.set("llama.embedding_length", uint32(width))
	g.set("llama.feed_forward_length", uint32(width))
	g.set("llama.attention.head_count", uint32(1))
	g.set("llama.attention.layer_norm_rms_epsilon", float32(1e-6))
	g.set("llama.rope.dimension_count", uint32(width))
	g.set("llama.rope.freq_base", float32(ropeBase))
	tokens := vocabulary(g)
	g.set("tokenizer.chat_template", strings.ReplaceAll(template, "WINDOW", strconv.Itoa(window)))
	weights(g, tokens)
	if err := g.writeTo(w); err != nil {
		return fmt.Errorf("write model: %w", err)
	}
	return nil
}

// vocabulary adds a token for each byte and for each mark, so that the template can count tokens.
func vocabulary(g *gguf) int {
	const normal, unknown, control, single = 1, 2, 3, 6
	tokens, types := []string{"<unk>"}, []int32{unknown}
	for _, m := range marks {
		tokens, types = append(tokens, m), append(types, control)
	}
	for b := range 256 {
		tokens, types = append(tokens, fmt.Sprintf("<0x%02X>", b)), append(types, single)
	}
	// This kind of tokenizer needs one real piece; the space has its own representation.
	tokens, types = append(tokens, "▁"), append(types, normal)
	g.set("tokenizer.ggml.model", "llama")
	g.set("tokenizer.ggml.tokens", tokens)
	g.set("tokenizer.ggml.token_type", types)
	g.set("tokenizer.ggml.scores", make([]float32, len(tokens)))
	g.set("tokenizer.ggml.unknown_token_id", uint32(0))
	g.set("tokenizer.ggml.eos_token_id", uint32(len(marks)))
	g.set("tokenizer.ggml.add_bos_token", false)
	g.set("tokenizer.ggml.add_eos_token", false)
	g.set("tokenizer.ggml.add_space_prefix", false)
	return len(tokens)
}

const ropeBase = 10000

// weights creates the copying model. Every embedding is a random vector of ±1 whose first element
// is 1 in all of them. Query and key use only that first element, so they are the same for every
// token except for the rotation by position, and the query is rotated in advance so that they agree
// exactly at the distance window-1. Value and output copy the embedding at that distance, scaled
// above the token's own.
func weights(g *gguf, tokens int) {
	const (
		// amplitude of query and key: the score at the right distance is 50 above all others
		sharp = 4
		loud  = 16  // of the copied embedding
		sure  = 0.5 // scale of the output
	)
	rng := rand.New(rand.NewPCG(1, 2))
	turns := make([]float64, width/2) // rotation of a pair of elements per position
	factors := make([]float32, width/2)
	for f := range turns {
		turns[f] = 0.05 + 2.5*rng.Float64()
		factors[f] = float32(math.Pow(ropeBase, -2*float64(f)/width) / turns[f])
	}
	embedding := make([]float32, tokens*width)
	output := make([]float32, tokens*width)
	for i := range embedding {
		embedding[i] = float32(1 - 2*rng.IntN(2))
		output[i] = sure * embedding[i]
		if i%width == 0 {
			embedding[i], output[i] = 1, 0
		}
	}
	// Rows are outputs, columns inputs.
	query, key, value, mix := square(), square(), square(), square()
	for f, turn := range turns {
		s, c := math.Sincos(-turn * (window - 1))
		query[2*f*width], query[(2*f+1)*width] = float32(sharp*c), float32(sharp*s)
		key[2*f*width] = sharp
	}
	for i := 1; i < width; i++ {
		value[i*width+i], mix[i*width+i] = 1, loud
	}
	ones := make([]float32, width)
	for i := range ones {
		ones[i] = 1
	}
	g.tensor("token_embd.weight", embedding, width, uint64(tokens))
	g.tensor("output_norm.weight", ones, width)
	g.tensor("output.weight", output, width, uint64(tokens))
	g.tensor("rope_freqs.weight", factors, width/2)
	g.tensor("blk.0.attn_norm.weight", ones, width)
	g.tensor("blk.0.attn_q.weight", query, width, width)
	g.tensor("blk.0.attn_k.weight", key, width, width)
	g.tensor("blk.0.attn_v.weight", value, width, width)
	g.tensor("blk.0.attn_output.weight", mix, width, width)
	g.tensor("blk.0.ffn_norm.weight", ones, width)
	for _, name := range []string{"gate", "up", "down"} {
		g.tensor("blk.0.ffn_"+name+".weight", square(), width, width)
	}
}

func square() []float32 { return make([]float32, width*width) }
