package process

import (
	"bytes"
	"regexp"

	"fairlead/gateway/peer/format"
)

// maxLast is how much of the last line is retained, in characters.
const maxLast = 200

// lastLine remembers the last line of an output that says something.
type lastLine struct {
	last    string
	partial []byte // a line whose end has not arrived
}

// lineNoise matches lines that follow an error without explaining it: those of a stack, and the last
// words of Node.js and npm.
var lineNoise = regexp.MustCompile(`^(\s*at |Node\.js v\d|npm (error|ERR!) A complete log|npm (error|ERR!)\s*$|\s*\^|\s*[{}]\s*$)`)

func (l *lastLine) add(data []byte) {
	for line := range bytes.Lines(data) {
		if room := 4*maxLast - len(l.partial); room > 0 {
			l.partial = append(l.partial, line[:min(len(line), room)]...)
		}
		if line[len(line)-1] == '\n' {
			l.last = l.line()
			l.partial = l.partial[:0]
		}
	}
}

// line returns the last line; "" if there was none.
func (l *lastLine) line() string {
	if text := format.Line(string(l.partial), maxLast); text != "" && !lineNoise.Match(l.partial) {
		return text
	}
	return l.last
}

// networkWords matches what programs write when they cannot reach the network.
var networkWords = regexp.MustCompile(`(?i)network|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|getaddrinfo|resol(ve|ution)|dns|unreachable|connection|connect |fetch failed|timed? ?out|registry|offline|Operation not permitted`)

func isAboutNetwork(line string) bool { return networkWords.MatchString(line) }
