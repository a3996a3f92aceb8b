package policy

import (
	"testing"

	"fairlead/gateway/protocol"
)

func TestWhatMakesSomethingReachableIsAlwaysAsked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rules, mode string
		direct      bool
		want        Verdict
	}{
		"by itself":           {`{"rules":[]}`, "", false, Ask},
		"in a trusted chat":   {`{"rules":[]}`, protocol.ModeTrust, false, Ask},
		"allowed by default":  {`{"default":"allow","rules":[]}`, "", false, Ask},
		"allowed by a rule":   {`{"rules":[{"node":"gsv","tool":"ServicePublish","verdict":"allow"}]}`, "", false, Ask},
		"denied by a rule":    {`{"rules":[{"node":"gsv","tool":"ServicePublish","verdict":"deny"}]}`, "", false, Deny},
		"in a read-only chat": {`{"rules":[]}`, protocol.ModeReadOnly, false, Deny},
		"as the person's own": {`{"rules":[]}`, "", true, Allow},
	} {
		t.Run(name, func(t *testing.T) {
			q := writeRequest("", c.mode)
			q.Tool, q.Node, q.Bare, q.Host, q.Direct = "gsv__ServicePublish", protocol.NativePrefix, "ServicePublish", nil, c.direct
			q.Preview = &protocol.CallPreview{Publishes: "Makes it reachable for you alone"}
			d := Policy{Rules: must(t, c.rules)}.Decide(q)
			if d.Verdict != c.want || c.want == Ask && (!d.Floor || d.Reason != q.Preview.Publishes || len(d.Offers) > 0) {
				t.Errorf("got %s (%s, floor %v, offers %v), want %s; a question with its words that no rule takes away", d.Verdict, d.Reason, d.Floor, d.Offers, c.want)
			}
		})
	}
}
