package chart

// A stroke is how a line looks.
type stroke struct {
	color  string
	width  float64
	dashes string // as SVG writes them; empty for none
}

// Colours that a theme replaces by its own.
const (
	ink        = "#000000"
	paper      = "#FFFFFF"
	gridColor  = "#DDDDDD"
	levelColor = "#6E6E6E"
)

var axisStroke = stroke{color: ink, width: 0.7}

// A Theme says on which ground a drawing stands.
type Theme int

// The themes.
const (
	Light  Theme = iota // black on white
	Dark                // light on the ground of a dark page
	inline              // on nothing, in the colour of the text of the page around it
)

// color returns the colour that stands for another in a theme.
func (t Theme) color(color string) string {
	return map[Theme]map[string]string{
		Dark:   {ink: "#E4E7EB", paper: "#0D1117", gridColor: "#30363D", levelColor: "#9AA4B1"},
		inline: {ink: "currentColor", gridColor: "#8888884d"},
	}[t][color]
}

// A look is how a curve is told from others: the stroke of its line and the shape of the
// marks at its points.
type look struct {
	stroke
	shape int // of shapes; noShape for none
}

const noShape = -1

// Parts of looks. The colours are those of Okabe and Ito that can be seen on black and on
// white: they differ in lightness too.
var (
	colors = [...]string{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#828282"}
	dashes = [...]string{"", "7,2.5", "3,2", "8,2,2,2", "1.5,1.5", "10,3,2,3,2,3"}
	// shapes are polygons around a point, in dot radii. The first is a circle.
	shapes = [...][]point{
		nil,
		{{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}},
		{{0, -1.3}, {1.2, 0.9}, {-1.2, 0.9}},
		{{0, -1.4}, {1.4, 0}, {0, 1.4}, {-1.4, 0}},
		{{0, 1.3}, {1.2, -0.9}, {-1.2, -0.9}},
	}
)

// Looks is how many curves of a chart look different from each other, beside its limits.
const Looks = len(colors) * len(dashes)

// limitLook is the look of every curve that is a limit.
var limitLook = look{stroke{color: ink, width: 1.3, dashes: "1,2.5"}, noShape}

// lookOf returns the i-th look: colour, dashes and shape change from one to the next, and
// each round of the colours shifts dashes and shapes against them.
func lookOf(i int) look {
	round := i / len(colors)
	return look{
		stroke{color: colors[i%len(colors)], width: lineWidth, dashes: dashes[(i%len(colors)+round)%len(dashes)]},
		(i%len(colors) + 2*round) % len(shapes),
	}
}

// looks returns the look of each curve by its name, the same in all panels: those of the same
// name look the same, in the order in which names come first.
func (c Chart) looks() map[string]look {
	all := map[string]look{}
	next := 0
	for _, p := range c.Panels {
		for _, curve := range p.Curves {
			if _, known := all[curve.Name]; known {
				continue
			}
			if curve.Limit {
				all[curve.Name] = limitLook
				continue
			}
			all[curve.Name] = lookOf(next)
			next++
		}
	}
	return all
}
