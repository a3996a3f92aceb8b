package exposure

import (
	"strings"
	"time"

	"fairlead/app/lists"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

func warningsOf(e protocol.Exposure) []string { return lists.Map(e.Warnings, display.ExposureWarning) }

// warningText names the warnings in one line.
func warningText(e protocol.Exposure) string {
	return format.Capital(strings.Join(warningsOf(e), " · "))
}

// timesText says when a way in was last used, and when it expires.
func timesText(e protocol.Exposure, now time.Time) string {
	when := func(at int64) string { return format.When(at, now) }
	return format.Capital(display.ExposureTimes(e, when, when))
}

// summary says what is public, or that nothing is, and whether that is a warning.
func summary(list []protocol.Exposure) (text string, warns bool) {
	if text = display.PublicExposures(list); text != "" {
		return text + ".", true
	}
	return "Nothing is public without sign-in.", false
}

// question asks whether to close a way in.
func question(e protocol.Exposure) string {
	title, _ := wording.Reveal(e.Title)
	return e.Close.Button + " “" + format.Clip(title, 30) + "”?"
}

// icons are the icons of the kinds.
var icons = map[string]string{
	protocol.ExposureListener: "plug", protocol.ExposureService: "globe", protocol.ExposureForward: "transfer", protocol.ExposureToken: "key",
	protocol.ExposureApp: "link", protocol.ExposureDevice: "machine", protocol.ExposureChannel: "channel", protocol.ExposureGrant: "shield",
}
