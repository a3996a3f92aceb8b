package servicestest

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// newBrowser starts Chromium for one test, in a network namespace unless that is empty.
func newBrowser(t testing.TB, namespace string, options ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	needs(t, "chromium")
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal(err)
	}
	if namespace != "" {
		inside := filepath.Join(t.TempDir(), "chromium")
		if err := os.WriteFile(inside, []byte("#!/bin/sh\nexec ip netns exec "+namespace+" "+path+" \"$@\"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		path = inside
	}
	ctx, stop, err := startBrowser(path, options...)
	t.Cleanup(stop)
	if err != nil {
		t.Fatalf("start Chromium: %v", err)
	}
	return ctx
}

func startBrowser(path string, options ...chromedp.ExecAllocatorOption) (ctx context.Context, stop func(), err error) {
	options = append(append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox), options...)
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, closeTab := chromedp.NewContext(allocator)
	return ctx, func() { closeTab(); end() }, chromedp.Do(ctx)
}

// stopShared ends the browser of sharedBrowser.
var stopShared = func() {}

var startShared = sync.OnceValues(func() (ctx context.Context, err error) {
	ctx, stopShared, err = startBrowser("chromium")
	return ctx, err
})

func TestMain(m *testing.M) {
	code := m.Run()
	stopShared()
	os.Exit(code)
}

// sharedBrowser returns a browser that tests share; each of their visitors has cookies of its own.
func sharedBrowser(t testing.TB) context.Context {
	t.Helper()
	needs(t, "chromium")
	ctx, err := startShared()
	if err != nil {
		t.Fatalf("start Chromium: %v", err)
	}
	return ctx
}

// visitor is a person with a browser, whose cookies nobody else has.
type visitor struct {
	t   testing.TB
	ctx context.Context
}

func newVisitor(t testing.TB, browser context.Context) *visitor {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil { // the context of the first call is that of the tab's life
		t.Fatalf("open a tab: %v", err)
	}
	v := &visitor{t, ctx}
	v.do(chromedp.EmulateViewport(1200, 800))
	return v
}

// do carries out actions in the browser.
func (v *visitor) do(steps ...chromedp.Action[chromedp.Void]) {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, 10*patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		v.t.Fatalf("the browser: %v", err)
	}
}

// open opens an address and waits until the page is loaded.
func (v *visitor) open(url string) { v.t.Helper(); v.do(chromedp.Navigate(url)) }

// eval returns the value of an expression, or of its promise, in the page.
func eval[T any](v *visitor, js string) T {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		v.t.Fatalf("%s: %v", js, err)
	}
	return value
}

// waits waits until an expression is true in the page, which may load again meanwhile.
func (v *visitor) waits(js string) {
	v.t.Helper()
	defer func() {
		if v.t.Failed() {
			text, _ := chromedp.Run(v.ctx, chromedp.Evaluate[string]("location + ': ' + document.body.innerText"))
			v.t.Logf("the page is %.500s", text)
		}
	}()
	until(v.t, js, func() bool {
		ctx, cancel := context.WithTimeout(v.ctx, patience)
		defer cancel()
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+js+")"))
		return ok && err == nil
	})
}

// sees waits until the page has a text.
func (v *visitor) sees(text string) {
	v.t.Helper()
	quoted, _ := json.Marshal(text)
	v.waits("document.body && document.body.innerText.includes(" + string(quoted) + ")")
}

// click clicks an element, once the page's scripts have moved it to its place. A page that is drawn
// anew meanwhile makes it try again.
func (v *visitor) click(selector string) {
	v.t.Helper()
	v.waits("document.readyState == 'complete'")
	until(v.t, "a click on "+selector, func() bool {
		ctx, cancel := context.WithTimeout(v.ctx, patience)
		defer cancel()
		return chromedp.Do(ctx, chromedp.Click(chromedp.CSS(selector))) == nil
	})
}

// enter lets a visitor in with a link, by the button on its page, and makes no passkey.
func (v *visitor) enter(link string) {
	v.t.Helper()
	v.open(link)
	v.click("button")
	v.skipPasskey()
}

// skipPasskey makes no passkey after a sign-in.
func (v *visitor) skipPasskey() {
	v.t.Helper()
	v.sees("Use a passkey next time?")
	v.click("a")
	v.waits("!location.pathname.startsWith('/.fairlead/') && document.readyState == 'complete'")
}

// downloads lets a visitor store files in a folder.
func (v *visitor) downloads(dir string) {
	v.t.Helper()
	_, err := chromedp.CallBrowser(v.ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir, BrowserContextID: chromedp.FromContext(v.ctx).BrowserContextID,
	})
	if err != nil {
		v.t.Fatal(err)
	}
}

// picture takes pictures of the page as it is shown on a desktop and on a phone, light and dark.
func (v *visitor) picture(name string) {
	v.t.Helper()
	if pictures == "" {
		return
	}
	for _, size := range []struct {
		name          string
		width, height int64
	}{{"desktop", 1200, 800}, {"phone", 390, 780}} {
		for _, scheme := range []string{"light", "dark"} {
			if _, err := chromedp.Call(v.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
			}); err != nil {
				v.t.Fatal(err)
			}
			v.do(chromedp.EmulateViewport(size.width, size.height), chromedp.Sleep(300*time.Millisecond))
			v.shot(strings.Join([]string{name, size.name, scheme}, "-"))
		}
	}
	v.do(chromedp.EmulateViewport(1200, 800))
}

// shot takes a picture of the page as it is now.
func (v *visitor) shot(name string) {
	v.t.Helper()
	if pictures == "" {
		return
	}
	data, err := chromedp.Run(v.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(pictures, name+".png"), data, 0o600)
	}
	if err != nil {
		v.t.Fatal(err)
	}
}
