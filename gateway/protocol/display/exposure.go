package display

import (
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// ExposureGroup names the ways in of a kind.
func ExposureGroup(kind string) string {
	switch kind {
	case protocol.ExposureListener:
		return "Open addresses"
	case protocol.ExposureService:
		return "Published apps"
	case protocol.ExposureForward:
		return "Forwards"
	case protocol.ExposureToken:
		return "Tokens"
	case protocol.ExposureApp:
		return "Connected apps"
	case protocol.ExposureDevice:
		return "Paired machines and clients"
	case protocol.ExposureChannel:
		return "Channels"
	case protocol.ExposureGrant:
		return "Allowed without a question"
	}
	return kind
}

// ExposureWarning says what a warning about a way in means.
func ExposureWarning(warning string) string {
	switch warning {
	case protocol.WarnPublic:
		return "public without sign-in"
	case protocol.WarnNetwork:
		return "reachable from the network"
	case protocol.WarnUnused:
		return "unused for 30 days"
	case protocol.WarnNoExpiry:
		return "never expires"
	}
	return warning
}

// ExposureTimes says when a way in was last used, and when it expires if it does. ago and until say
// a past and a future time in words.
func ExposureTimes(e protocol.Exposure, ago, until func(at int64) string) string {
	text := "never used"
	switch {
	case e.IsInUse:
		text = "in use now"
	case e.LastUsedAt > 0:
		text = "used " + ago(e.LastUsedAt)
	}
	if e.ExpiresAt > 0 {
		text += ", until " + until(e.ExpiresAt)
	}
	return text
}

// PublicExposures says in one line how much is public without sign-in, or returns an empty text.
func PublicExposures(list []protocol.Exposure) string {
	apps, channels := 0, 0
	for _, e := range list {
		switch {
		case !e.IsPublic:
		case e.Kind == protocol.ExposureChannel:
			channels++
		default:
			apps++
		}
	}
	verb := " are"
	if apps+channels == 1 {
		verb = " is"
	}
	switch {
	case apps+channels == 0:
		return ""
	case channels == 0:
		return format.Plural(apps, "app") + verb + " public without sign-in"
	case apps == 0:
		return format.Plural(channels, "channel") + verb + " open to everyone"
	}
	return format.Plural(apps, "app") + " and " + format.Plural(channels, "channel") + " are open to everyone"
}
