package worlds

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
)

// TestScripts plays the kept scripts. A line "# skip: REASON" skips one.
func TestScripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("find scripts: %d files (%v)", len(files), err)
	}
	server, examples := harness.New(t, binaries, harness.Options{}), examplesOf(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s, err := parseScript(string(content))
			if err != nil {
				t.Fatal(err)
			}
			if failure, log := try(t, func(t testing.TB) { play(t, server, examples, s) }); failure != "" {
				t.Fatalf("%s\nlog:\n%s", failure, log)
			}
		})
	}
}

const (
	// defaultWorlds is the number of random worlds in each run of the tests.
	defaultWorlds = 3
	// shrinkTime bounds how long shorter scripts are played for one that fails.
	shrinkTime = 10 * time.Minute
	// beside is the number of worlds that run side by side: they wait more than they compute.
	beside = 3
)

// TestRandom plays WORLDS random scripts. WORLDS_SEED chooses them: world i of a run is repeated
// alone by the seed in its name.
func TestRandom(t *testing.T) {
	t.Parallel()
	count, seed := number(t, "WORLDS", defaultWorlds), firstSeed()
	t.Logf("%d worlds: make worlds WORLDS=%d SEED=%d repeats them", count, count, seed)
	server, examples := harness.New(t, binaries, harness.Options{}), examplesOf(t)
	slots := make(chan struct{}, beside)
	t.Run("seed", func(t *testing.T) {
		for i := range count {
			t.Run(strconv.FormatUint(seed+i, 10), func(t *testing.T) {
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				playRandom(t, server, examples, draw(seed+i, examples))
			})
		}
	})
}

// firstSeed returns the seed of the first world: a number, the hash of another text, or by chance.
func firstSeed() uint64 {
	text := os.Getenv("WORLDS_SEED")
	if text == "" {
		return uint64(rand.Uint32())
	}
	if n, err := strconv.ParseUint(text, 10, 63); err == nil {
		return n
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(text)) // it never fails
	return uint64(hash.Sum32())
}

// playRandom plays a script. It shrinks one that fails and prints the rest, a file of testdata.
func playRandom(t *testing.T, server *harness.World, examples *catalogue, s script) {
	t.Helper()
	run := func(s script) (failure, log string) {
		return try(t, func(t testing.TB) { play(t, server, examples, s) })
	}
	failure, log := run(s)
	if failure == "" {
		t.Logf("log:\n%s", log)
		return
	}
	t.Errorf("%s\nlog:\n%s\nscript:\n%s", failure, log, s)
	begun := time.Now()
	inTime := func() bool { return time.Since(begun) < shrinkTime }
	short := shrink(s, inTime, func(s script) bool {
		again, _ := run(s)
		if again != "" {
			failure = again
		}
		return again != ""
	})
	t.Errorf("the shortest script that fails:\n%s%s", short, failure)
}

// number returns the number in a variable.
func number(t *testing.T, variable string, fallback uint64) uint64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return fallback
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		t.Fatalf("%s is %q, want a number", variable, text)
	}
	return n
}
