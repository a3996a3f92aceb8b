package approve

import (
	"fmt"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// makeRule shows what a rule with this scope would allow, before it is created.
func (d *Dialog) makeRule(scope string) {
	q := d.Current()
	rules := state.OfferedRules(q, scope)
	d.rule = ruleStep{scope: scope, rules: rules, chosen: state.NarrowOffers(rules), would: container.New(&columnLayout{})}
	rows := []fyne.CanvasObject{widgets.NewHeading("Always allow", "text")}
	for _, r := range rules {
		words, _ := state.Reveal(r.Words)
		_, row := d.longCheck(words, slices.Contains(d.rule.chosen, r.Place), func(on bool) {
			if on {
				d.rule.chosen = append(d.rule.chosen, r.Place)
			} else {
				d.rule.chosen = slices.DeleteFunc(d.rule.chosen, func(i int) bool { return i == r.Place })
			}
			slices.Sort(d.rule.chosen)
			d.try()
		})
		rows = append(rows, row)
	}
	d.rule.end = widgets.NewQuiet("", "clock", func() { widgets.ShowMenu(d.rule.end, d.ends()) })
	d.rule.end.OnKey = d.key
	d.rule.ends = widgets.NewText("", style.ColorMuted, "text")
	d.endAt(protocol.RuleEnds[0])
	rows = append(rows, container.NewHBox(d.rule.end, d.rule.ends))
	rows = append(rows, d.rule.would, widgets.NewParagraph("You can change or delete the rule on the Rules page. Commands such as sudo always require approval.", style.ColorMuted, style.SizeSmall))
	d.enter(ruling, widgets.Col(style.Inside, rows...), "Create rule and allow", d.leave)
	d.try()
}

// ends are the possible validity periods of the rule.
func (d *Dialog) ends() (items []*fyne.MenuItem) {
	for _, e := range protocol.RuleEnds {
		items = append(items, fyne.NewMenuItem(endWords(e), func() {
			d.endAt(e)
			d.turns++ // the displayed text changed
			d.rearm()
		}))
	}
	return items
}

func endWords(e protocol.RuleEnd) string {
	switch e.Key {
	case "never":
		return "No expiry"
	case "today":
		return "Until the end of today"
	}
	return "For " + e.Words
}

// endAt sets the rule's expiry.
func (d *Dialog) endAt(e protocol.RuleEnd) {
	d.rule.until = e.At(d.clock())
	d.rule.end.SetText(endWords(e))
	ends := "valid until you delete it"
	if d.rule.until > 0 {
		ends = "expires on " + time.UnixMilli(d.rule.until).Format("2 January 2006 15:04")
	}
	d.rule.ends.SetText(ends)
}

// ruleStep is the state of creating a rule.
type ruleStep struct {
	scope  string
	rules  []state.OfferedRule
	chosen []int
	would  *fyne.Container
	until  int64 // expiry in Unix milliseconds; 0 is never
	end    *widgets.Button
	ends   *widgets.Text // until as text
	asked  int           // number of the latest preview request
}

// try previews which earlier calls the selected rules would also have allowed.
func (d *Dialog) try() {
	d.rule.asked++
	asked, left := d.rule.asked, len(d.rule.chosen)
	say := func(rows ...fyne.CanvasObject) {
		d.rule.would.Objects = rows
		d.rule.would.Refresh()
		d.body.Refresh()
		d.grow()
		d.turns++ // the displayed text changed
		d.rearm()
	}
	if left == 0 {
		say(widgets.NewText("Select what the rule allows.", style.ColorMuted, "text"))
		return
	}
	if d.h.Try == nil {
		return
	}
	say(widgets.NewText("Checking earlier calls…", style.ColorMuted, "text"))
	found, looked := make(map[protocol.CallID]bool), 0
	var calls []protocol.RuleChange
	for _, r := range d.rule.rules {
		if !slices.Contains(d.rule.chosen, r.Place) {
			continue
		}
		d.h.Try(r.Policy, func(res protocol.RuleTryResult, err error) {
			if asked != d.rule.asked || d.step != ruling {
				return
			}
			if err != nil {
				say(warning("Earlier calls could not be checked: " + err.Error()))
				d.rule.asked++ // late responses would hide this
				return
			}
			for _, c := range res.Changed {
				if !found[c.Call.CallID] && c.Call.ApprovalID != d.Current().ID {
					found[c.Call.CallID] = true
					calls = append(calls, c)
				}
			}
			looked = max(looked, res.Looked)
			if left--; left == 0 {
				say(d.wouldAllow(calls, looked)...)
			}
		})
	}
}

// maxWould is the maximum number of earlier calls listed.
const maxWould = 8

func (d *Dialog) wouldAllow(calls []protocol.RuleChange, looked int) []fyne.CanvasObject {
	switch {
	case looked == 0:
		return []fyne.CanvasObject{widgets.NewText(state.NothingToTry, style.ColorMuted, "text")}
	case len(calls) == 0:
		return []fyne.CanvasObject{widgets.NewText(state.TriedOn(looked)+" it would have allowed nothing else.", style.ColorMuted, "text")}
	}
	rows := []fyne.CanvasObject{widgets.NewText(state.TriedOn(looked)+" it would also have allowed:", style.ColorText, "text")}
	lines := d.linesOf(calls)
	for i, line := range lines {
		if i == maxWould {
			rows = append(rows, widgets.NewText(fmt.Sprintf("and %d more", len(lines)-i), style.ColorMuted, style.SizeSmall))
			break
		}
		t := widgets.NewText(line, style.ColorText, style.SizeSmall)
		t.Style.Monospace, t.Ellipsis = true, true
		rows = append(rows, widgets.Inset(0, 0, 0, style.Group, t))
	}
	return rows
}

// linesOf describes calls, with those of the same text in one line.
func (d *Dialog) linesOf(calls []protocol.RuleChange) (lines []string) {
	times := make(map[string]int)
	for _, c := range calls {
		line, _ := state.Reveal(state.CallLine(c.Call, d.machines.Name(string(c.Call.Node))))
		if times[line]++; times[line] == 1 {
			lines = append(lines, line)
		}
	}
	for i, line := range lines {
		if n := times[line]; n > 1 {
			lines[i] = fmt.Sprintf("%s, %d times", line, n)
		}
	}
	return lines
}
