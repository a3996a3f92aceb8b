//go:build desktop

package desktoptest

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// word is a piece of text on the screen.
type word struct {
	text       string
	x, y, w, h int
	line       string
}

// area is a part of the screen, read in its tones or in black and white.
type area struct {
	image.Rectangle
	tones string
}

// lastReading is the picture that was read last, and its words.
type lastReading struct {
	pixels []byte
	words  []word
}

// blackAndWhite are the tones of a second reading, which recognizes words on coloured buttons.
const blackAndWhite = "black and white"

// threshold is the brightness of white in black and white.
const threshold = 158

// enlargement makes the letters of a screen large enough for the recognition.
const enlargement = 3

// readOnce reads a window's text with optical character recognition. Recognition takes most of the
// processor time of these tests, so the words of a picture that has not changed are known.
func (d *desktop) readOnce(w window, tones string) []word {
	d.t.Helper()
	pic := d.capture(w)
	if pic.Rect.Empty() {
		return nil // the window was closed
	}
	key := area{pic.Rect, tones}
	if last, ok := d.texts[key]; ok && bytes.Equal(last.pixels, pic.Pix) {
		return last.words
	}
	out, err := recognize(enlarge(pic, tones), "--psm", "11", "tsv")
	if err != nil {
		d.t.Logf("read the screen: %v", err)
		return nil
	}
	var words []word
	for _, row := range strings.Split(out, "\n")[1:] {
		f := strings.Split(row, "\t")
		if len(f) < 12 || strings.TrimSpace(f[11]) == "" {
			continue
		}
		n := func(i int) int { v, _ := strconv.Atoi(f[i]); return v / enlargement }
		words = append(words, word{text: f[11], x: pic.Rect.Min.X + n(6), y: pic.Rect.Min.Y + n(7), w: n(8), h: n(9), line: tones + strings.Join(f[1:5], "/")})
	}
	d.texts[key] = lastReading{pic.Pix, words}
	return words
}

// readLine reads a single line of text.
func (d *desktop) readLine(r image.Rectangle) string {
	d.t.Helper()
	pic := d.capture(window{x: r.Min.X, y: r.Min.Y, w: r.Dx(), h: r.Dy()})
	if pic.Rect.Empty() {
		return ""
	}
	text, err := recognize(enlarge(pic, ""), "--psm", "7")
	if err != nil {
		d.t.Logf("read a line: %v", err)
	}
	return text
}

// taps are the weights, in 1024ths, with which a pixel and its neighbours from the second before it
// to the second after it make each of the pixels that it becomes: the filter of Mitchell and
// Netravali, whose edges are soft.
var taps = [enlargement][5]int32{
	{-23, 354, 727, -34, 0},
	{0, 57, 910, 57, 0},
	{0, -34, 727, 354, -23},
}

// enlarge returns an enlarged picture in grey, or in black and white.
func enlarge(pic *image.RGBA, tones string) *image.Gray {
	width, height := pic.Rect.Dx(), pic.Rect.Dy()
	rows := make([][]int32, height) // in grey, of their final width
	grey := make([]int32, width)
	for y := range rows {
		for x := range grey {
			p := pic.Pix[4*(y*width+x):]
			grey[x] = (213*int32(p[0]) + 715*int32(p[1]) + 72*int32(p[2])) / 1000
		}
		rows[y] = make([]int32, 0, enlargement*width)
		for x := range grey {
			a, b, c, d, e := around(grey, x)
			for _, t := range taps {
				rows[y] = append(rows[y], (t[0]*a+t[1]*b+t[2]*c+t[3]*d+t[4]*e)>>10)
			}
		}
	}
	large := image.NewGray(image.Rect(0, 0, enlargement*width, enlargement*height))
	for y := range rows {
		a, b, c, d, e := around(rows, y)
		for i, t := range taps {
			line := large.Pix[(enlargement*y+i)*large.Stride:][:large.Stride]
			for x := range line {
				v := (t[0]*a[x] + t[1]*b[x] + t[2]*c[x] + t[3]*d[x] + t[4]*e[x]) >> 10
				if tones == blackAndWhite {
					v = (v - threshold) * 255
				}
				line[x] = uint8(max(0, min(v, 255)))
			}
		}
	}
	return large
}

// around returns a value with its two neighbours on both sides; the edge continues outwards.
func around[T any](values []T, i int) (a, b, c, d, e T) {
	last := len(values) - 1
	return values[max(i-2, 0)], values[max(i-1, 0)], values[i], values[min(i+1, last)], values[min(i+2, last)]
}

// recognize reads the text of a picture.
func recognize(pic *image.Gray, options ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "tesseract", append([]string{"-", "-"}, options...)...)
	// several threads that wait for each other are four times slower on a busy machine
	cmd.Env = append(os.Environ(), "OMP_THREAD_LIMIT=1")
	var input, errs bytes.Buffer
	fmt.Fprintf(&input, "P5 %d %d 255\n", pic.Rect.Dx(), pic.Rect.Dy())
	input.Write(pic.Pix)
	cmd.Stdin, cmd.Stderr = &input, &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("tesseract: %w: %s", err, strings.TrimSpace(errs.String()))
	}
	return string(out), nil
}
