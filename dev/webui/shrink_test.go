package webui

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

const (
	// maxScreenshot is the maximum size of a picture of the docs, in bytes.
	maxScreenshot = 150_000
	// maxColors is the maximum number of colours of a PNG with a palette.
	maxColors = 256
)

// shrink encodes a PNG with a palette of its most frequent colours: pages of
// the Web UI have few, and a third of the bytes afterwards.
func shrink(picture []byte) ([]byte, error) {
	read, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil, fmt.Errorf("decode picture: %w", err)
	}
	few := image.NewPaletted(read.Bounds(), frequent(read))
	draw.Draw(few, few.Bounds(), read, read.Bounds().Min, draw.Src)
	var written bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&written, few); err != nil {
		return nil, fmt.Errorf("encode picture: %w", err)
	}
	return written.Bytes(), nil
}

// frequent returns the most frequent colours of a picture, the most frequent first.
// Of nearly equal shades only one is taken: otherwise the edges of letters would
// displace the colour of a rare icon.
func frequent(picture image.Image) color.Palette {
	counts := map[color.RGBA]int{}
	for y := picture.Bounds().Min.Y; y < picture.Bounds().Max.Y; y++ {
		for x := picture.Bounds().Min.X; x < picture.Bounds().Max.X; x++ {
			counts[color.RGBAModel.Convert(picture.At(x, y)).(color.RGBA)]++
		}
	}
	ordered := slices.SortedFunc(maps.Keys(counts), func(a, b color.RGBA) int {
		return cmp.Or(counts[b]-counts[a], cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	var palette color.Palette
	taken := map[color.RGBA]bool{}
	for _, c := range ordered {
		shade := color.RGBA{c.R >> 3, c.G >> 3, c.B >> 3, 0}
		if len(palette) < maxColors && !taken[shade] {
			taken[shade] = true
			palette = append(palette, c)
		}
	}
	return palette
}

func TestShrink(t *testing.T) {
	picture := image.NewRGBA(image.Rect(0, 0, 64, 64))
	random := rand.New(rand.NewPCG(1, 2))
	white := color.RGBA{255, 255, 255, 255}
	for i := range 64 * 64 {
		c := white
		if i%4 == 0 {
			c = color.RGBA{uint8(random.Uint32()), uint8(random.Uint32()), uint8(random.Uint32()), 255}
		}
		picture.Set(i%64, i/64, c)
	}
	var written bytes.Buffer
	if err := png.Encode(&written, picture); err != nil {
		t.Fatal(err)
	}
	small, err := shrink(written.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if len(small) >= written.Len() {
		t.Errorf("shrink makes %d bytes of %d", len(small), written.Len())
	}
	read, err := png.Decode(bytes.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	if got := color.RGBAModel.Convert(read.At(1, 1)); read.Bounds() != picture.Bounds() || got != white {
		t.Errorf("shrink makes %v with %v at (1, 1), want %v with white", read.Bounds(), got, picture.Bounds())
	}
}
