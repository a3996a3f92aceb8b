// Package instance ensures that only one program shows a data folder.
package instance

import (
	"bufio"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"fairlead/app/feed"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/pake"
)

// Instance ensures that only one program shows a data folder; a second start shows its window.
type Instance struct {
	l        net.Listener
	Requests *feed.Value[Requests]
	file     string
	secret   string
}

// Requests holds the requests of other starts.
type Requests struct {
	Count int    // number of requests to show the window
	Link  string // fairlead:// link of the latest request; may be empty
}

// The two messages of the exchange between two starts. A link may follow the first.
const (
	messageShow  = "show"
	messageShown = "shown"
)

// exchangeTimeout is the time limit for each message. It is generous: a busy machine may take
// seconds, and a second window on the same folder is worse than a late one.
const exchangeTimeout = 10 * time.Second

// maxRequest is the maximum length of the first message with its link, in bytes.
const maxRequest = 4096

// Claim listens for later starts. first is false when another program already runs; that
// program has then received the request to show its window and the link.
//
// It listens on loopback TCP and stores the port and a secret in a file that only the person can
// read, which works the same way on every system. Other users of this computer can connect, or can
// listen on the port of a killed program. So each side proves to the other that it knows the
// secret.
func Claim(home, link string) (i *Instance, first bool) {
	file := filepath.Join(home, "desktop.instance")
	if requestShow(file, link) {
		return nil, false
	}
	i = &Instance{Requests: feed.NewValue(Requests{}), file: file, secret: rand.Text()}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return i, true // without it a second start merely opens a second window
	}
	i.l = l
	if err := os.WriteFile(file, []byte(l.Addr().String()+" "+i.secret+"\n"), 0o600); err != nil {
		l.Close()
		i.l = nil
		return i, true
	}
	crash.Go(func() { i.serve() })
	return i, true
}

// requestShow reports whether the program whose address is in file has shown its window.
func requestShow(file, link string) bool {
	data, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	address, secret, known := strings.Cut(strings.TrimSpace(string(data)), " ")
	if !known {
		return false
	}
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.Dial("tcp", address)
	if err != nil {
		return false
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(exchangeTimeout))
	nonce, answers := rand.Text(), bufio.NewReader(io.LimitReader(conn, maxRequest))
	fmt.Fprintln(conn, nonce)
	if line, err := answers.ReadString('\n'); err != nil || !hmac.Equal([]byte(strings.TrimSpace(line)), []byte(proof(secret, nonce))) {
		return false // not this person's Fairlead: do not send it the link
	}
	fmt.Fprintln(conn, strings.TrimSpace(secret+" "+messageShow+" "+link))
	line, err := answers.ReadString('\n')
	return err == nil && strings.TrimSpace(line) == messageShown
}

// proof returns a MAC of a nonce under the secret.
func proof(secret, nonce string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(nonce))
	return hex.EncodeToString(mac.Sum(nil))
}

func (i *Instance) serve() {
	for {
		conn, err := i.l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		i.handle(conn)
		conn.Close()
	}
}

// handle handles one connection: from another start, or from a stranger without the secret.
func (i *Instance) handle(conn net.Conn) {
	conn.SetDeadline(time.Now().Add(exchangeTimeout))
	requests := bufio.NewReader(io.LimitReader(conn, maxRequest))
	nonce, err := requests.ReadString('\n')
	if err != nil {
		return
	}
	fmt.Fprintln(conn, proof(i.secret, strings.TrimSpace(nonce)))
	line, err := requests.ReadString('\n')
	secret, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	word, link, _ := strings.Cut(rest, " ")
	if err != nil || !hmac.Equal([]byte(secret), []byte(i.secret)) || word != messageShow {
		return
	}
	if !pake.IsLink(link) {
		link = ""
	}
	i.Requests.Update(func(a *Requests) { *a = Requests{a.Count + 1, link} })
	fmt.Fprintln(conn, messageShown)
}

func (i *Instance) Close() {
	if i.l != nil {
		i.l.Close()
		os.Remove(i.file)
	}
}
