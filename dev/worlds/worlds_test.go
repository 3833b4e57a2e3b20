package worlds

import (
	"cmp"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/armature-io/armature/dev/internal/harness"
	"github.com/armature-io/armature/internal/testonly/sample"
)

const (
	// defaultWorlds is the number of random worlds in each run of the tests; with -short there is
	// none.
	defaultWorlds = 2
	// shrinkTime bounds how long shorter scripts are played for one that fails.
	shrinkTime = 10 * time.Minute
	// beside is the number of worlds that run side by side: they wait more than they compute.
	beside = 3
)

// stage has the worlds of a test: they share one Temporal server.
type stage struct {
	server   *harness.World
	examples *catalogue
	// slots has an item for each world that runs.
	slots chan struct{}
}

// TestWorlds plays the kept scripts, and WORLDS random ones. WORLDS_SEED, or the seed of the
// samples, chooses these: world i of a run is repeated alone by the seed in its name.
func TestWorlds(t *testing.T) {
	t.Parallel()
	on := stage{harness.New(t, binaries, harness.Options{}), examplesOf(t), make(chan struct{}, beside)}
	count, seed := worldCount(t), firstSeed()
	t.Logf("%d random worlds: make worlds WORLDS=%d SEED=%d repeats them", count, count, seed)
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("find scripts: %d files (%v)", len(files), err)
	}
	t.Run("script", func(t *testing.T) {
		for _, file := range files {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
				t.Parallel()
				on.playKept(t, file)
			})
		}
	})
	t.Run("seed", func(t *testing.T) {
		for i := range count {
			t.Run(strconv.FormatUint(seed+i, 10), func(t *testing.T) {
				t.Parallel()
				on.playRandom(t, draw(seed+i, on.examples))
			})
		}
	})
}

// try plays a script as soon as a slot is free, and returns the first failure, "" for none, and
// the log.
func (on stage) try(t *testing.T, s script) (failure, log string) {
	t.Helper()
	on.slots <- struct{}{}
	defer func() { <-on.slots }()
	return try(t, func(t testing.TB) { play(t, on.server, on.examples, s) })
}

// playKept plays a script of testdata. A first line "# skip: REASON" names a defect that is open.
func (on stage) playKept(t *testing.T, file string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := parseScript(string(content))
	if err != nil {
		t.Fatal(err)
	}
	if reason, skip := strings.CutPrefix(string(content), "# skip: "); skip {
		reason, _, _ = strings.Cut(reason, "\n")
		t.Skip(reason)
	}
	if failure, log := on.try(t, s); failure != "" {
		t.Fatalf("%s\nlog:\n%s", failure, log)
	}
}

// playRandom plays a script. It shrinks one that fails and prints the rest, a file of testdata.
func (on stage) playRandom(t *testing.T, s script) {
	t.Helper()
	failure, log := on.try(t, s)
	if failure == "" {
		t.Logf("log:\n%s", log)
		return
	}
	t.Errorf("%s\nlog:\n%s\nscript:\n%s", failure, log, s)
	begun := time.Now()
	inTime := func() bool { return time.Since(begun) < shrinkTime }
	short := shrink(s, inTime, func(s script) bool {
		again, _ := on.try(t, s)
		if again != "" {
			failure = again
		}
		return again != ""
	})
	t.Errorf("the shortest script that fails:\n%s%s", short, failure)
}

// firstSeed returns the seed of the first world: a number, the hash of another text, or by chance.
func firstSeed() uint64 {
	text := cmp.Or(os.Getenv("WORLDS_SEED"), os.Getenv(sample.SeedVariable))
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

// worldCount returns the number of random worlds.
func worldCount(t *testing.T) uint64 {
	t.Helper()
	text := os.Getenv("WORLDS")
	switch {
	case text == "" && testing.Short():
		return 0
	case text == "":
		return defaultWorlds
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		t.Fatalf("WORLDS is %q, want a number", text)
	}
	return n
}
