package stream

import "context"

// guess is that a receiver has nothing of a file. While it has not said so, the file's bytes are sent all the same: what it has of it they do not touch.
type guess struct {
	s     *Sender
	index uint32
	known bool
}

// guessError says that a guess was wrong, and what the receiver has.
type guessError struct{ verdict }

func (e *guessError) Error() string { return "the receiver has something of the file" }

// open reports whether the receiver has not said anything yet.
func (g *guess) open() bool { return g != nil && !g.known }

// ask looks whether the receiver has said something: a *guessError when it has not nothing.
func (g *guess) ask() error {
	g.s.mu.Lock()
	v, ok := g.s.verdicts[g.index]
	delete(g.s.verdicts, g.index)
	g.s.mu.Unlock()
	if !ok {
		return nil
	}
	return g.heard(v)
}

// settle waits until the receiver has said something.
func (g *guess) settle(ctx context.Context) error {
	if err := g.s.pack.flush(ctx); err != nil {
		return err
	}
	v, err := g.s.verdict(ctx, g.index)
	if err != nil {
		return err
	}
	return g.heard(v)
}

func (g *guess) heard(v verdict) error {
	if g.known = true; v.have != 0 {
		return &guessError{v}
	}
	return nil
}
