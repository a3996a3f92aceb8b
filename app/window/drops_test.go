package window

import (
	"context"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/pagetest"
	"fairlead/app/send"
	"fairlead/app/widgets"
	"fairlead/app/widgets/widgettest"
	"fairlead/gateway/protocol"
)

// folderView is a page that shows a folder of a machine everywhere.
type folderView struct {
	host.View
	machine protocol.NodeID
	folder  string
}

func (v folderView) At(fyne.Position) (protocol.NodeID, string, bool) {
	return v.machine, v.folder, v.machine != ""
}

func TestFilesOfAMachineGoWhereTheyWereDropped(t *testing.T) {
	w := newTestWindow(t)
	w.Chat.Window.Resize(fyne.NewSize(1120, 760))
	w.UpdateSidebar()
	var sent []string
	gateway := pagetest.Gateway{"transfer.start": func(params any) (any, error) {
		sent = append(sent, params.(protocol.TransferStartParams).Destination)
		return protocol.Transfer{}, nil
	}}
	w.o.Sender = send.New(t.Context(), host.Env{Host: &pagetest.Now{}, Feed: feed.NewOf(gateway)}, nil, func() fyne.Window { return w.Chat.Window }, func() bool { return true })
	row := widgettest.Find(w.Sidebar.Content, func(r *widgets.SidebarRow) bool { return r.Item().Title == "nas" })
	inSidebar := fyne.CurrentApp().Driver().AbsolutePositionForObject(row).AddXY(20, 4)
	onPage := fyne.NewPos(700, 300)
	for name, c := range map[string]struct {
		view folderView
		at   fyne.Position
		want string
	}{
		"on a machine in the sidebar":  {folderView{}, inSidebar, "nas:"},
		"on a folder of a machine":     {folderView{machine: "nas", folder: "/srv"}, onPage, "nas:/srv"},
		"on the machine they are from": {folderView{machine: "laptop", folder: "/srv"}, onPage, ""},
		"beside everything":            {folderView{}, onPage, ""},
	} {
		t.Run(name, func(t *testing.T) {
			sent = nil
			c.view.View = testView{widget.NewLabel("files"), func() bool { return false }}
			w.Pages.Open(host.Entry{Title: name, New: func(context.Context) host.View { return c.view }}, nil)
			w.Drop(host.Drop{Machine: "laptop", Paths: []string{"/a.txt"}, At: c.at})
			got := ""
			if len(sent) > 0 {
				got = sent[0]
			}
			if got != c.want {
				t.Errorf("destination: got %q, want %q", got, c.want)
			}
		})
	}
}
