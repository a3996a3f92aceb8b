package resident

// room is the amount of garbage in bytes that a Roomy program may create before a collection. With
// a third less, the slowest calls take a tenth longer.
const room = 24 << 20

// ballast is never touched, so it uses no physical memory. The collector counts it as live and
// allows as much garbage.
var ballast []byte

// Roomy lets the program create some megabytes of garbage before a collection. Go collects a small
// program's garbage every 4 MB: fifty times a second in a program that answers thousands of calls a
// second, and each time some calls take five times as long. It costs room bytes of memory during
// work; [Run] releases them when the program is idle. A memory limit (GOMEMLIMIT) must leave space
// for it. It may be called more than once.
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
