package question

import (
	"time"

	"fairlead/app/feed"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// AppWords are the words about an app that asks to connect.
func AppWords(q protocol.Question, _ feed.View, _ time.Time) Words {
	name, _ := wording.Reveal(q.App.Name)
	return Words{Title: "Connect “" + format.Clip(name, 60) + "”?", Body: ConsentText(*q.App)}
}

// ConsentText says who asks and where the answer goes.
func ConsentText(c protocol.AppSubject) string {
	again := ""
	if c.Connected {
		again = " That app is connected already: what you allow is added to its permissions."
	}
	name, _ := wording.Reveal(c.Name)
	who := "“" + format.Clip(name, 60) + "” (unverified name)"
	switch {
	case c.ClientHost != "" && c.IsLocal: // any program there can name this document
		return "A program where your browser runs claims to be published by " + c.ClientHost + ". Nobody has checked that." + again
	case c.ClientHost != "":
		return "This app is published by " + c.ClientHost + ". It wants to use your machines. Your answer goes to " + c.RedirectHost + "." + again
	case c.IsLocal:
		return who + " on this computer wants to use your machines." + again
	}
	return who + " wants to use your machines. Your answer goes to " + c.RedirectHost + "." + again
}
