package resident

// room is how much garbage a program that was given room makes before any of it is collected, in bytes. With a third less the slowest calls take a tenth
// longer.
const room = 24 << 20

// ballast is never touched, so it takes no memory of the system. The collector counts it as alive, and lets garbage grow to as much.
var ballast []byte

// Roomy has the program make some megabytes of garbage before it is collected. Go collects the garbage of a small program every 4 MB: of one that answers
// thousands of calls a second fifty times a second, and each time some calls take five times as long as the others. It costs room bytes of memory while there is
// work; [Run] gives them back when there is none. A limit for memory (GOMEMLIMIT) has to have room for it. It may be called more than once.
func Roomy() {
	burst.mu.Lock()
	defer burst.mu.Unlock()
	if ballast == nil {
		ballast = make([]byte, room)
		untouch(ballast)
	}
}

func isRoomy() bool {
	burst.mu.Lock()
	defer burst.mu.Unlock()
	return ballast != nil
}
