package settings

import (
	"context"
	"fmt"
	"slices"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/notify"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// notificationKinds are the kinds of notifications, as the page names them.
var notificationKinds = []choice[notify.Kind]{
	{"Questions that need you", notify.Questions},
	{"Finished answers", notify.Finished},
	{"Failed answers", notify.Failed},
	{"Transfers that finish or fail", notify.Transfers},
	{"Schedules that have run", notify.Schedules},
	{"Devices that want to pair", notify.Pairing},
	{"Messages from other people on channels", notify.Messages},
}

// newCheck creates a check box; set sets its value without calling changed.
func newCheck(label string, changed func(bool)) (box *widgets.CheckBox, set func(bool)) {
	box = widgets.NewCheckBox(label, changed)
	return box, func(on bool) {
		box.OnChanged = nil
		box.SetChecked(on)
		box.OnChanged = changed
	}
}

// alignLeft aligns a check box with texts above and below it: it has a margin of its own.
func alignLeft(box *widgets.CheckBox) fyne.CanvasObject {
	return widgets.Inset(0, 0, 0, 1-style.Inside, box)
}

// notificationsPage has the settings of notifications.
type notificationsPage struct {
	page    *view
	problem *widgets.Paragraph // of reading the settings
	now     notify.Settings
	// show functions of the controls, called with now
	shows []func(notify.Settings)
}

const aboutNotifications = "They appear while no Fairlead window is in front."

func (p *view) notifications() fyne.CanvasObject {
	n := &notificationsPage{page: p, problem: mutedText(aboutNotifications)}
	var kinds []fyne.CanvasObject
	for _, k := range notificationKinds {
		box, set := n.check(k.name, string(k.value))
		n.shows = append(n.shows, func(s notify.Settings) { set(!s.Off[k.value]) })
		kinds = append(kinds, box)
	}
	sound, setSound := n.check("Play the system's sound", "sound")
	n.shows = append(n.shows, func(s notify.Settings) { setSound(s.Sound) })
	try := widgets.NewButton("Show a test notification", "bell", func() { widgets.Call(p.o.TestNotification) })
	built := form(
		p.section("Notify me about", widgets.Col(0, kinds...), n.problem),
		p.section("Sound and test", sound, widgets.Row(style.Inside, -1, try),
			mutedText("If none appears, check the notification settings of this computer.")),
		n.quietHours(),
	)
	p.watchConfig(func(ctx context.Context) {
		bind.Go(ctx, func(ctx context.Context) (notify.Settings, error) {
			return feed.ConfigAt[notify.Settings](ctx, p.e.Feed, "notifications")
		}, func(s notify.Settings, err error) {
			if err != nil {
				setError(n.problem, err)
				return
			}
			n.apply(s)
		})
	})
	return built
}

func (n *notificationsPage) apply(s notify.Settings) {
	n.now = s
	for _, show := range n.shows {
		show(s)
	}
}

func (n *notificationsPage) save(path string, value any, result *widgets.Paragraph) {
	n.page.saveSetting("notifications."+path, value, result)
}

// check is a check box of a setting, with the result of saving it.
func (n *notificationsPage) check(label, path string) (row fyne.CanvasObject, set func(bool)) {
	var result *widgets.Paragraph
	box, set := newCheck(label, func(on bool) { n.save(path, on, result) })
	row, result = withResult(alignLeft(box))
	return row, set
}

func (n *notificationsPage) quietHours() fyne.CanvasObject {
	var enabledResult, allowResult *widgets.Paragraph
	enabled, setEnabled := choiceButtons(onOffChoices, func(on bool) { n.save("quietHours.enabled", on, enabledResult) })
	enabled, enabledResult = withResult(enabled)
	from := n.timeMenu("from", func(s notify.Settings) string { return s.Quiet.From })
	to := n.timeMenu("to", func(s notify.Settings) string { return s.Quiet.To })
	var allowed []choice[string]
	for _, a := range quietAllow {
		allowed = append(allowed, choice[string]{a[0], a[1]})
	}
	allow, setAllow := choiceButtons(allowed, func(a string) { n.save("quietHours.allow", a, allowResult) })
	allow, allowResult = withResult(allow)
	details := widgets.Col(style.Group,
		labelledValue("From", from), labelledValue("To", to), labelledValue("On", n.days()), labelledValue("Notify about", allow))
	n.shows = append(n.shows, func(s notify.Settings) {
		setEnabled(s.Quiet.Enabled)
		setAllow(s.Quiet.Allow)
		widgets.SetVisible(details, s.Quiet.Enabled)
	})
	return n.page.section("Quiet hours", enabled, mutedText("Fewer notifications at certain times, such as at night."), details)
}

// timeMenu is a menu of the times of day, in steps of half an hour.
func (n *notificationsPage) timeMenu(path string, value func(notify.Settings) string) fyne.CanvasObject {
	var times []string
	for i := range 48 {
		times = append(times, fmt.Sprintf("%02d:%02d", i/2, 30*(i%2)))
	}
	menu := widgets.NewSelect(times, nil)
	row, result := withResult(menu)
	n.shows = append(n.shows, func(s notify.Settings) {
		menu.OnChanged = nil
		if at := value(s); at != "" && !slices.Contains(menu.Options, at) { // set elsewhere
			menu.Options = append(menu.Options, at)
			slices.Sort(menu.Options)
		}
		menu.SetSelected(value(s))
		menu.OnChanged = func(at string) { n.save("quietHours."+path, at, result) }
	})
	return row
}

// days are buttons for the days of the week; none chosen is every day, too.
func (n *notificationsPage) days() fyne.CanvasObject {
	var buttons []fyne.CanvasObject
	var result *widgets.Paragraph
	for _, day := range weekdays {
		b := widgets.NewButton(day[0], "", nil)
		b.OnTap = func() { n.save("quietHours.days", toggleDay(n.now.Quiet.Days, day[1]), result) }
		n.shows = append(n.shows, func(s notify.Settings) {
			if on := len(s.Quiet.Days) == 0 || slices.Contains(s.Quiet.Days, day[1]); b.Primary != on {
				b.Primary = on
				b.Refresh()
			}
		})
		buttons = append(buttons, b)
	}
	row, result := withResult(widgets.Flow(style.Gap, buttons...))
	return row
}
