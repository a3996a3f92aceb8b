package assets

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// outline converts an SVG of stroked paths, circles and rectangles to filled outlines. It supports
// the absolute commands M L H V C A Z and panics on anything else.
func outline(svg []byte) []byte {
	var doc struct {
		ViewBox string  `xml:"viewBox,attr"`
		Width   string  `xml:"width,attr"`
		Height  string  `xml:"height,attr"`
		Shapes  []shape `xml:",any"`
	}
	if err := xml.Unmarshal(svg, &doc); err != nil {
		panic(fmt.Sprintf("assets: %v", err))
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="%s">`+"\n", doc.Width, doc.Height, doc.ViewBox)
	for _, s := range doc.Shapes {
		lines := s.lines()
		if s.Fill != "" && s.Fill != "none" {
			var d strings.Builder
			for _, l := range lines {
				writeRing(&d, l.points)
			}
			fmt.Fprintf(&b, `<path fill="%s" d="%s"/>`+"\n", s.Fill, d.String())
		}
		if s.Stroke != "" && s.Stroke != "none" {
			var d strings.Builder
			for _, l := range lines {
				l.stroke(&d, s.StrokeWidth/2, s.Cap == "round")
			}
			fmt.Fprintf(&b, `<path fill="%s" d="%s"/>`+"\n", s.Stroke, d.String())
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

type shape struct {
	XMLName     xml.Name
	D           string  `xml:"d,attr"`
	X           float64 `xml:"x,attr"`
	Y           float64 `xml:"y,attr"`
	W           float64 `xml:"width,attr"`
	H           float64 `xml:"height,attr"`
	RX          float64 `xml:"rx,attr"`
	CX          float64 `xml:"cx,attr"`
	CY          float64 `xml:"cy,attr"`
	R           float64 `xml:"r,attr"`
	Fill        string  `xml:"fill,attr"`
	Stroke      string  `xml:"stroke,attr"`
	StrokeWidth float64 `xml:"stroke-width,attr"`
	Cap         string  `xml:"stroke-linecap,attr"`
}

type point struct{ x, y float64 }

func (p point) add(q point) point      { return point{p.x + q.x, p.y + q.y} }
func (p point) sub(q point) point      { return point{p.x - q.x, p.y - q.y} }
func (p point) mul(f float64) point    { return point{p.x * f, p.y * f} }
func (p point) dist(q point) float64   { return math.Hypot(p.x-q.x, p.y-q.y) }
func (p point) unit() point            { return p.mul(1 / math.Hypot(p.x, p.y)) }
func (p point) left() point            { return point{p.y, -p.x} }
func polar(a float64, r float64) point { return point{r * math.Cos(a), r * math.Sin(a)} }
func (p point) angle() float64         { return math.Atan2(p.y, p.x) }
func (p point) dot(q point) float64    { return p.x*q.x + p.y*q.y }
func (p point) cross(q point) float64  { return p.x*q.y - p.y*q.x }

// polyline is a flattened path.
type polyline struct {
	points []point
	closed bool
}

func (s shape) lines() []polyline {
	switch s.XMLName.Local {
	case "path":
		return parsePath(s.D)
	case "circle":
		return parsePath(fmt.Sprintf("M%g %gA%[3]g %[3]g 0 0 1 %g %gA%[3]g %[3]g 0 0 1 %[1]g %[2]gZ", s.CX-s.R, s.CY, s.R, s.CX+s.R, s.CY))
	case "rect":
		r, x, y, x2, y2 := s.RX, s.X, s.Y, s.X+s.W, s.Y+s.H
		if r == 0 {
			return parsePath(fmt.Sprintf("M%g %gH%gV%gH%gZ", x, y, x2, y2, x))
		}
		corner := fmt.Sprintf("A%g %g 0 0 1 ", r, r)
		return parsePath(fmt.Sprintf("M%g %gH%g", x+r, y, x2-r) + corner + fmt.Sprintf("%g %gV%g", x2, y+r, y2-r) + corner +
			fmt.Sprintf("%g %gH%g", x2-r, y2, x+r) + corner + fmt.Sprintf("%g %gV%g", x, y2-r, y+r) + corner + fmt.Sprintf("%g %gZ", x+r, y))
	}
	panic("assets: unknown shape " + s.XMLName.Local)
}

func parsePath(d string) []polyline {
	var lines []polyline
	var cur *polyline
	var at point
	to := func(p point) {
		if n := len(cur.points); n == 0 || cur.points[n-1].dist(p) > 1e-6 {
			cur.points = append(cur.points, p)
		}
		at = p
	}
	for d != "" {
		op := d[0]
		end := strings.IndexAny(d[1:], "MLHVCAZ") + 1
		if end == 0 {
			end = len(d)
		}
		var n []float64
		for _, f := range strings.FieldsFunc(d[1:end], func(r rune) bool { return r == ' ' || r == ',' }) {
			v, err := strconv.ParseFloat(f, 64)
			if err != nil {
				panic(fmt.Sprintf("assets: path %q: %v", d, err))
			}
			n = append(n, v)
		}
		d = d[end:]
		switch op {
		case 'M':
			lines = append(lines, polyline{})
			cur = &lines[len(lines)-1]
			to(point{n[0], n[1]})
		case 'L':
			to(point{n[0], n[1]})
		case 'H':
			to(point{n[0], at.y})
		case 'V':
			to(point{at.x, n[0]})
		case 'C':
			p0, p1, p2, p3 := at, point{n[0], n[1]}, point{n[2], n[3]}, point{n[4], n[5]}
			const steps = 16
			for i := 1; i <= steps; i++ {
				t := float64(i) / steps
				u := 1 - t
				to(p0.mul(u * u * u).add(p1.mul(3 * u * u * t)).add(p2.mul(3 * u * t * t)).add(p3.mul(t * t * t)))
			}
		case 'A':
			for _, p := range arc(at, point{n[5], n[6]}, n[0], n[3] != 0, n[4] != 0) {
				to(p)
			}
		case 'Z':
			cur.closed = true
			if last := len(cur.points) - 1; cur.points[0].dist(cur.points[last]) < 1e-6 {
				cur.points = cur.points[:last]
			}
			at = cur.points[0]
		default:
			panic("assets: unknown path command " + string(op))
		}
	}
	return lines
}

// arc flattens a circular arc (SVG 1.1, F.6.5, for equal radii).
func arc(from, to point, r float64, large, sweep bool) []point {
	half := to.sub(from).mul(0.5)
	h := math.Hypot(half.x, half.y)
	r = max(r, h)
	off := half.left().unit().mul(math.Sqrt(max(r*r-h*h, 0)))
	if large != sweep {
		off = off.mul(-1)
	}
	centre := from.add(half).add(off)
	a, b := from.sub(centre).angle(), to.sub(centre).angle()
	if sweep && b < a {
		b += 2 * math.Pi
	}
	if !sweep && b > a {
		b -= 2 * math.Pi
	}
	steps := int(math.Ceil(math.Abs(b-a) * (4 + math.Sqrt(r))))
	var points []point
	for i := 1; i < steps; i++ {
		points = append(points, centre.add(polar(a+(b-a)*float64(i)/float64(steps), r)))
	}
	return append(points, to)
}

// stroke writes the outline of a line of width 2w, with round joins.
func (l polyline) stroke(d *strings.Builder, w float64, round bool) {
	if l.closed {
		writeRing(d, side(l.points, w, true))
		rev := make([]point, len(l.points))
		for i, p := range l.points {
			rev[len(rev)-1-i] = p
		}
		writeRing(d, side(rev, w, true))
		return
	}
	var ring []point
	for range 2 {
		ring = append(ring, side(l.points, w, false)...)
		last, prev := l.points[len(l.points)-1], l.points[len(l.points)-2]
		if round {
			a := last.sub(prev).left().angle()
			for i := 1; i < 12; i++ {
				ring = append(ring, last.add(polar(a+math.Pi*float64(i)/12, w)))
			}
		}
		rev := make([]point, len(l.points))
		for i, p := range l.points {
			rev[len(rev)-1-i] = p
		}
		l.points = rev
	}
	writeRing(d, ring)
}

// side returns the line at distance w to the left of points.
func side(points []point, w float64, closed bool) []point {
	n := len(points)
	var out []point
	for i, p := range points {
		if !closed && i == 0 {
			out = append(out, p.add(points[1].sub(p).unit().left().mul(w)))
			continue
		}
		in := p.sub(points[(i+n-1)%n]).unit()
		if !closed && i == n-1 {
			out = append(out, p.add(in.left().mul(w)))
			continue
		}
		next := points[(i+1)%n].sub(p).unit()
		turn := math.Atan2(in.cross(next), in.dot(next))
		if turn > 0.5 { // outside of a corner
			a := in.left().angle()
			for k := range 9 {
				out = append(out, p.add(polar(a+turn*float64(k)/8, w)))
			}
			continue
		}
		out = append(out, p.add(in.left().add(next.left()).unit().mul(w/math.Cos(turn/2))))
	}
	return out
}

func writeRing(d *strings.Builder, ring []point) {
	for i, p := range ring {
		op := "L"
		if i == 0 {
			op = "M"
		}
		d.WriteString(op + strconv.FormatFloat(p.x, 'f', 2, 64) + " " + strconv.FormatFloat(p.y, 'f', 2, 64))
	}
	d.WriteString("Z")
}
