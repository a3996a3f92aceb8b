//go:build desktop

package desktoptest

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"fairlead/gateway"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// startMachineInWorkspace starts a second machine and returns its workspace.
func (p *program) startMachineInWorkspace(c *client.Client, id protocol.NodeID) (workspace string) {
	p.t.Helper()
	workspace, _ = p.startMachine(c, id)
	return workspace
}

// startMachine starts a second machine, which ends with stop or with the test.
func (p *program) startMachine(c *client.Client, id protocol.NodeID) (workspace string, stop func()) {
	p.t.Helper()
	token, err := keychain.Open(p.home).Get(gateway.TokenName)
	if err != nil {
		p.t.Fatal(err)
	}
	workspace = p.t.TempDir()
	stop = runMachine(p.t, id, workspace, p.addr, token.Reveal())
	p.waitFor("the machine "+string(id), func() bool {
		r, err := client.Call(context.Background(), c, protocol.NodesList, protocol.Empty{})
		return err == nil && slices.ContainsFunc(r.Nodes, func(n protocol.NodeInfo) bool { return n.ID == id && n.Online })
	})
	return workspace, stop
}

// runMachine runs a machine of the gateway at an address, until stop or the end of the test.
func runMachine(t *testing.T, id protocol.NodeID, workspace, addr, token string) (stop func()) {
	t.Helper()
	cmd := exec.Command(filepath.Join(filepath.Dir(programPath(t)), "fairlead-node"), "--id", string(id), "--workspace", workspace)
	cmd.Env = append(os.Environ(), "FAIRLEAD_HOME="+t.TempDir(), "FAIRLEAD_SECRETS=file", "FAIRLEAD_URL=ws://"+addr+"/ws", "FAIRLEAD_TOKEN="+token)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() { cmd.Process.Kill(); cmd.Wait() })
	t.Cleanup(stop)
	return stop
}

// moveWindow moves and resizes a window, and waits until it is there and its picture stays the
// same. It repeats the request if the window stays at another size: the toolkit applies its known
// size again when the content's minimum size changes (fitContent in its loop), and a size requested
// at that moment is lost.
func (d *desktop) moveWindow(pattern string, x, y, w, h int) {
	d.t.Helper()
	ask := func(id string) {
		d.run("xdotool", "windowsize", id, strconv.Itoa(w), strconv.Itoa(h), "windowmove", id, strconv.Itoa(x), strconv.Itoa(y))
	}
	ask(d.waitWindow(pattern).id)
	last, shown, same := window{}, &image.RGBA{}, 0
	d.waitFor("the place of "+pattern, func() bool { // and its frame, which appears a little later
		now := d.waitWindow(pattern)
		if pic := d.capture(now); now != last || !bytes.Equal(pic.Pix, shown.Pix) {
			last, shown, same = now, pic, 0
			return false
		}
		isPlaced := now.w == w && now.h == h
		if same++; same%8 == 0 && !isPlaced {
			ask(now.id)
		}
		return isPlaced && same >= 4
	})
}

// drag drags the object at from to another position and drops it.
func (d *desktop) drag(from, to image.Point) {
	d.t.Helper()
	from, to = d.currentPosition(from), d.currentPosition(to)
	d.readings = nil
	d.pressMouse(from)
	d.moveMouseInSteps(from, to)
	d.run("xdotool", "sleep", "0.6", "mouseup", "1") // the drop needs the target's acceptance first
}

// pressMouse presses the mouse on an object.
func (d *desktop) pressMouse(at image.Point) {
	d.t.Helper()
	d.run("xdotool", "mousemove", strconv.Itoa(at.X), strconv.Itoa(at.Y), "sleep", "0.33", "mousedown", "1", "sleep", "0.3")
}

// moveMouseInSteps moves the dragged object in small steps, as a hand does.
func (d *desktop) moveMouseInSteps(from, to image.Point) {
	d.t.Helper()
	at := func(p image.Point) {
		d.run("xdotool", "mousemove", strconv.Itoa(p.X), strconv.Itoa(p.Y), "sleep", "0.03")
	}
	const steps = 20
	for i := 1; i <= steps; i++ {
		at(from.Add(to.Sub(from).Mul(i).Div(steps)))
	}
	at(to.Add(image.Pt(2, 1)))
}

// pauseTransfer waits until a transfer is paused or finished: on a fast machine it can finish
// before it is seen.
func (p *program) pauseTransfer(c *client.Client) (stopped bool) {
	p.t.Helper()
	list := func(history bool) []protocol.Transfer {
		r, _ := client.Call(context.Background(), c, protocol.TransferList, protocol.TransferListParams{History: history})
		return r.Transfers
	}
	p.waitFor("a transfer that is stopped or over", func() bool {
		for _, x := range list(false) {
			switch x.State {
			case protocol.TransferPaused:
				stopped = true
			case protocol.TransferRunning: // a transfer that finishes at this moment refuses
				_, _ = client.Call(context.Background(), c, protocol.TransferPause, protocol.TransferParams{ID: x.ID})
			}
		}
		return stopped || len(list(true)) > 0
	})
	return stopped
}

// TestAFileIsDraggedFromAFileManager drags files with the mouse from a file manager's window over a
// chat, which shows where they go, to a machine in the sidebar, to one on the page Machines, and to
// the page Transfers, which asks for the destination.
func TestAFileIsDraggedFromAFileManager(t *testing.T) {
	p := startProgram(newDesktop(t))
	c := p.gateway()
	p.clickText(mainWindow, "Start now")
	there := p.startMachineInWorkspace(c, "server")
	dir := filepath.Join(t.TempDir(), "Suitcase")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	sums := map[string][32]byte{}
	write := func(name string, size int) { sums[name] = writeRandomFile(t, filepath.Join(dir, name), size) }
	write("holiday.bin", 256<<20)
	write("letter.bin", 3<<20)
	write("poem.bin", 1000)

	manager := exec.Command("pcmanfm", "--no-desktop", "--new-win", dir)
	if err := manager.Start(); err != nil {
		t.Fatalf("packaging/deps.sh test installs the file manager: %v", err)
	}
	t.Cleanup(func() { manager.Process.Kill(); manager.Wait() })
	const folder = "^Suitcase$"
	p.moveWindow(mainWindow, 0, 40, 800, 720)
	p.moveWindow(folder, 820, 40, 450, 420)
	right := func(w window) window { w.x, w.w = w.x+240, w.w-240; return w }
	whole := func(w window) window { return w }
	icons := p.waitPlaces(folder, whole, "holiday", "letter", "poem")
	rows := p.waitPlaces(mainWindow, sidebar, "server", "MACHINES", "Transfers")
	// the picture is above its name
	take := func(name string) image.Point { return icons[name].Sub(image.Pt(0, 24)) }
	arrives := func(name string) {
		t.Helper()
		p.waitFor("the file "+name, func() bool {
			data, err := os.ReadFile(filepath.Join(there, name))
			return err == nil && sha256.Sum256(data) == sums[name]
		})
	}

	// The window says where a file goes while it is over it, and stops when it has left.
	over, away := image.Pt(500, 300), image.Pt(1100, 700)
	p.pressMouse(take("poem"))
	p.moveMouseInSteps(take("poem"), over)
	p.waitTextIn(mainWindow, "Drop to attach", right)
	p.screenshot("over-the-chat")
	p.moveMouseInSteps(over, away)
	p.waitFor("no highlight", func() bool {
		_, is := find(p.readOnce(right(p.waitWindow(mainWindow)), ""), "Drop to attach")
		return !is
	})
	p.moveMouseInSteps(away, over)
	p.run("xdotool", "sleep", "0.6", "mouseup", "1")
	p.waitTextIn(mainWindow, "poem", right) // attached

	// Onto a machine in the sidebar. The page shows the progress; the transfer is paused until that
	// was read.
	p.waitFor("the page of transfers", func() bool {
		p.click(rows["Transfers"]) // the window manager may lose one in a window that is not active yet
		_, is := find(p.readOnce(right(p.waitWindow(mainWindow)), ""), "Transfers")
		return is
	})
	p.drag(take("holiday"), rows["server"])
	if p.pauseTransfer(c) {
		resume := p.waitTextIn(mainWindow, "Resume", right)
		p.screenshot("paused")
		p.click(resume)
	}
	arrives("holiday.bin")

	// Outside of any machine, the window asks.
	w := p.waitWindow(mainWindow)
	p.drag(take("poem"), image.Pt(w.x+w.w-200, w.y+w.h-120))
	p.click(p.waitTextIn(mainWindow, "Send to server", right))
	p.screenshot("where-to")
	arrives("poem.bin")
	p.waitPlaces(mainWindow, right, "HISTORY", "holiday", "poem")
	p.screenshot("history")

	// Onto a machine of the page Machines.
	p.click(rows["MACHINES"])
	p.drag(take("letter"), p.waitTextIn(mainWindow, "server", right))
	arrives("letter.bin")
}

// writeRandomFile writes a file of random content and returns its hash.
func writeRandomFile(t *testing.T, path string, size int) [32]byte {
	t.Helper()
	data := make([]byte, size)
	rand.Read(data)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(data)
}

// TestFilesAreDraggedBetweenTheListsOfTwoMachines drags a file from one machine's list to
// another's, sees its progress and the result in the other list, and drags it from there onto a
// folder of the first.
func TestFilesAreDraggedBetweenTheListsOfTwoMachines(t *testing.T) {
	p := startProgram(newDesktop(t))
	c := p.gateway()
	p.clickText(mainWindow, "Start now")
	attic, cellar := p.startMachineInWorkspace(c, "attic"), p.startMachineInWorkspace(c, "cellar")
	sum := writeRandomFile(t, filepath.Join(attic, "holiday.bin"), 128<<20)
	writeRandomFile(t, filepath.Join(attic, "photos", "beach.bin"), 10)
	writeRandomFile(t, filepath.Join(cellar, "winter.bin"), 10)

	p.moveWindow(mainWindow, 0, 30, 1270, 720)
	half := func(i int) func(window) window { // of the area beside the sidebar
		return func(w window) window {
			w.x, w.w = w.x+240, w.w-240
			w.x, w.w = w.x+i*w.w/2, w.w/2
			return w
		}
	}
	right := func(w window) window { w.x, w.w = w.x+240, w.w-240; return w }
	p.click(p.waitTextIn(mainWindow, "Files", sidebar))
	p.click(p.waitTextIn(mainWindow, "this computer", right))
	p.click(p.waitTextIn(mainWindow, "attic", right))
	p.waitTextIn(mainWindow, "holiday", right)
	p.keys("F3")
	p.click(p.waitTextIn(mainWindow, "this computer", half(1)))
	p.click(p.waitTextIn(mainWindow, "cellar", half(1)))
	p.waitTextIn(mainWindow, "winter", half(1))
	p.screenshot("two-lists")

	arrives := func(path string) {
		t.Helper()
		p.waitFor("the file "+path, func() bool {
			data, err := os.ReadFile(path)
			return err == nil && sha256.Sum256(data) == sum
		})
	}
	to := p.waitTextIn(mainWindow, "winter", half(1)).Add(image.Pt(0, 160))
	p.drag(p.waitTextIn(mainWindow, "holiday", half(0)), to)
	paused := p.pauseTransfer(c)
	p.click(p.waitTextIn(mainWindow, "Transfers", sidebar))
	if paused {
		resume := p.waitTextIn(mainWindow, "Resume", right)
		p.screenshot("between-on-its-way")
		p.click(resume)
	}
	arrives(filepath.Join(cellar, "holiday.bin"))

	// Back onto a folder of the other: the page has the state in which it was left.
	p.click(p.waitTextIn(mainWindow, "Files", sidebar))
	from := p.waitTextIn(mainWindow, "holiday", half(1))
	onto := p.waitTextIn(mainWindow, "photos", half(0))
	p.screenshot("both-have-it")
	p.drag(from, onto)
	arrives(filepath.Join(attic, "photos", "holiday.bin"))

	// A narrow window shows one list, and a wide one both again.
	if err := setConfig(c, "ui.theme", "light"); err != nil {
		t.Fatal(err)
	}
	p.moveWindow(mainWindow, 0, 30, 1100, 720)
	p.waitTextIn(mainWindow, "photos", half(0))
	p.screenshot("two-lists-light")
	p.moveWindow(mainWindow, 0, 30, 520, 720)
	p.waitText(mainWindow, "holiday")
	p.screenshot("one-list-light")
	p.moveWindow(mainWindow, 0, 30, 1270, 720)
	p.waitTextIn(mainWindow, "winter", half(1))
	p.waitTextIn(mainWindow, "photos", half(0))
}
