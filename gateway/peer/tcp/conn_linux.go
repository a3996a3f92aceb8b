package tcp

import "io"

// Read implements [net.Conn].
func (c *Conn) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	s := &c.in
	s.mu.Lock()
	defer s.mu.Unlock()
	s.b, s.n, s.err = b, 0, nil
	err := s.raw.Read(s.f)
	s.b = nil
	switch {
	case s.err != nil:
		err = c.failed("read", s.err)
	case err == nil && s.n == 0:
		err = io.EOF
	}
	return s.n, err
}

// Write implements [net.Conn].
func (c *Conn) Write(b []byte) (int, error) { return c.write(b, true) }
