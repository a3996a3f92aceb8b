package app

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fairlead/app/state"
	"fairlead/gateway/protocol/trust"
)

// instance makes sure that one program alone shows a data folder. A second start asks the first to show its window, and ends.
type instance struct {
	l     net.Listener
	asked *state.Value[asked]
	file  string
}

// asked is what other starts asked for.
type asked struct {
	times int    // for the window
	link  string // an invitation that the last one was given; may be empty
}

// The two words of the conversation between two starts. A link may follow the first.
const (
	askShow  = "show"
	saidDone = "shown"
)

// answerLimit is how long either may take to say its word: on a machine that is busy with other things it takes seconds, and a second window on the same
// folder is worse than a late one.
const answerLimit = 10 * time.Second

// maxAsked is how long the first may be, with its link.
const maxAsked = 4096

// claimInstance listens for later starts. first is false when another program runs, which has been asked to show its window, and the link. It
// listens on loopback TCP with the port in a file that only the person can read: the same on every system.
func claimInstance(home, link string) (i *instance, first bool) {
	file := filepath.Join(home, "desktop.instance")
	if askOther(file, link) {
		return nil, false
	}
	i = &instance{asked: state.NewValue(asked{}), file: file}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return i, true // without it a second start opens a second window; that is all
	}
	i.l = l
	if err := os.WriteFile(file, []byte(l.Addr().String()+"\n"), 0o600); err != nil {
		l.Close()
		i.l = nil
		return i, true
	}
	go i.serve()
	return i, true
}

// askOther asks the program whose address is in file to show its window, and reports whether it did.
func askOther(file, link string) bool {
	data, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	conn, err := net.DialTimeout("tcp", strings.TrimSpace(string(data)), time.Second)
	if err != nil {
		return false
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(answerLimit))
	fmt.Fprintln(conn, strings.TrimSpace(askShow+" "+link))
	line, err := bufio.NewReader(conn).ReadString('\n')
	return err == nil && strings.TrimSpace(line) == saidDone
}

func (i *instance) serve() {
	for {
		conn, err := i.l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		conn.SetDeadline(time.Now().Add(answerLimit))
		line, err := bufio.NewReader(io.LimitReader(conn, maxAsked)).ReadString('\n')
		if word, link, _ := strings.Cut(strings.TrimSpace(line), " "); err == nil && word == askShow {
			if !trust.IsLink(link) {
				link = ""
			}
			i.asked.Update(func(a asked) asked { return asked{a.times + 1, link} })
			fmt.Fprintln(conn, saidDone)
		}
		conn.Close()
	}
}

func (i *instance) close() {
	if i.l != nil {
		i.l.Close()
		os.Remove(i.file)
	}
}
