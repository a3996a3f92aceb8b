package inbox

import (
	"fmt"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// narrow is the minimum width of the dialog.
const narrow float32 = 480

// TestDialogFitsANarrowWindow finds objects that need or take more width than a narrow window has,
// in every step and with long texts.
func TestDialogFitsANarrowWindow(t *testing.T) {
	long := "/srv/" + strings.Repeat("a-long-folder-name/", 8)
	folder := ask("1", "make -C "+long+" install && sudo systemctl restart "+strings.Repeat("x", 90))
	folder.Preview.Folder = long
	folder.Preview.Folders = []protocol.FolderAccess{{Path: long, Write: true, Warning: "it holds other people's files"}, {Path: "/tmp/a"}}
	folder.AskedBy.Name = strings.Repeat("long name ", 12)
	rule := ask("2", "go vet ./...")
	rule.Choices = append(rule.Choices, protocol.ScopeAlways)
	rule.Offers = []protocol.RuleOffer{{Words: "go vet with any arguments in " + long + " and below, on server", Policy: []byte(`{"tool":"Bash","argv":["go","vet","**"],"verdict":"allow"}`)}}
	edit := ask("3", "")
	edit.Tool, edit.Effect = "Edit", protocol.EffectWrite
	edit.Args = []byte(`{"path":"` + long + `a.go","oldString":"old","newString":"new","replaceAll":true}`)
	edit.Preview = &protocol.CallPreview{Folder: long, Diff: "@@ -1 +1 @@\n-one old " + strings.Repeat("x", 200) + "\n+one new\n@@ -9 +9 @@\n-two old\n+two new\n"}
	for _, c := range []struct {
		name string
		list []protocol.Question
		do   func(b *bench)
	}{
		{"command", []protocol.Question{folder}, func(*bench) {}},
		{"several", []protocol.Question{folder, rule, edit}, func(*bench) {}},
		{"reason", []protocol.Question{folder}, func(b *bench) { b.frame.askReason() }},
		{"rule", []protocol.Question{rule}, func(b *bench) { b.startRule(protocol.ScopeAlways) }},
		{"change", []protocol.Question{edit}, func(*bench) {}},
		{"parts", []protocol.Question{edit, rule}, func(b *bench) { b.options.hunks[0] = false; b.choicesChanged() }},
		{"edited", []protocol.Question{rule}, func(b *bench) { b.frame.edit.OnTap() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, c.list...)
			c.do(b)
			if w := b.Box.MinSize().Width; w > narrow {
				t.Fatalf("it needs %v of width, want at most %v", w, narrow)
			}
			for _, width := range []float32{narrow, 520, 640, 700, narrow} {
				b.window.Resize(fyne.NewSize(width, 600))
				var seen []fyne.CanvasObject
				for _, o := range []fyne.CanvasObject{b.frame.deny, b.frame.denyWithReason, b.frame.notNow, b.frame.next, b.frame.edit, b.frame.allow, b.frame.denyForReason, b.frame.leaveReason, b.frame.back, b.frame.confirm} {
					if visible(b, o) {
						seen = append(seen, o)
					}
				}
				if len(seen) < 2 {
					t.Fatalf("at %v only %d buttons are seen, want at least 2", width, len(seen))
				}
				for i, o := range seen {
					at, size := fyne.CurrentApp().Driver().AbsolutePositionForObject(o), o.Size()
					if at.X < 0 || at.X+size.Width > width || at.Y < 0 || at.Y+size.Height > 600 || size.Width < o.MinSize().Width {
						t.Errorf("at %v a button is at %v, %v large", width, at, size)
					}
					for _, p := range seen[:i] {
						if was := fyne.CurrentApp().Driver().AbsolutePositionForObject(p); at.X < was.X+p.Size().Width && was.X < at.X+size.Width &&
							at.Y < was.Y+p.Size().Height && was.Y < at.Y+size.Height {
							t.Errorf("at %v two buttons overlap at %v and %v", width, was, at)
						}
					}
				}
				if b.frame.scroll.Size().Height < 150 {
					t.Errorf("at %v the question has only %v, want at least 150", width, b.frame.scroll.Size().Height)
				}
			}
		})
	}
}

func visible(b *bench, o fyne.CanvasObject) bool {
	if (o == b.frame.back || o == b.frame.confirm) != (b.step != nil) {
		return false
	}
	isForReason := o == b.frame.denyForReason || o == b.frame.leaveReason
	return o.Visible() && (b.step != nil || isForReason == b.frame.reasonRow.Visible())
}

// TestALongCheckBoxIsClickedByItsText uses a check box with its text beside it.
func TestALongCheckBoxIsClickedByItsText(t *testing.T) {
	q := ask("1", "make")
	q.Preview.Folders = []protocol.FolderAccess{{Path: "/srv/" + strings.Repeat("folder/", 12), Write: true}}
	b := newBench(t, q)
	if len(b.options.folders) != 1 || b.options.folders[0].Checked {
		t.Fatalf("got %v; want options.folders of length 1 and not options.folders[0].Checked", len(b.options.folders))
	}
	var area *widgets.TapArea
	find(b.frame.body, func(o fyne.CanvasObject) {
		if a, ok := o.(*widgets.TapArea); ok {
			area = a
		}
	})
	if area == nil || area.Size().Width < 200 {
		t.Fatal("its text takes no clicks")
	}
	area.Tapped(nil)
	if got := fmt.Sprint(b.options.folderAccess()); got != "[0]" {
		t.Errorf(`the click opens %s, want "[0]"`, got)
	}
	if !strings.Contains(b.allowText, "folder") {
		t.Errorf(`Allow says %q, want "folder" in it`, b.allowText)
	}
}

func find(o fyne.CanvasObject, f func(fyne.CanvasObject)) {
	f(o)
	if c, ok := o.(*fyne.Container); ok {
		for _, x := range c.Objects {
			find(x, f)
		}
	}
}
