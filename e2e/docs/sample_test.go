package docs

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// normalize replaces what differs between two runs of the demo in one of its lines: progress, times, addresses and random names.
func normalize(line string) string {
	line = strings.Join(strings.Fields(line), " ")
	for _, replacement := range []struct{ pattern, with string }{
		{`[█░]+ \d+ %`, "PROGRESS"},
		{`(Processing PROGRESS) .*`, "$1"}, // the demo prints what it sees now and then, and may miss any task
		{` \d+ s$`, ""},                    // how long a step has taken, if that is more than a second
		{`\b\d+\.\d s\b`, "SECONDS"},
		{`, and \d+ of progress$`, ""}, // progress is written more often the longer a reconciliation takes
		{`\b\d{4}-\d\d-\d\d\b`, "DATE"},
		{`\b(\d+\.){3}\d+(/\d+)?\b`, "ADDRESS"},
		{`\b([0-9a-f]{2}:){15}[0-9a-f]{2}\b`, "FINGERPRINT"},
		{`\b[0-9a-f]{8}(-[0-9a-f]{4,12}){2,4}\b`, "ID"},
		{`-z(\d)-[0-9a-f]{5}-[a-z0-9]{5}\b`, "-z$1-MACHINE"},
		{`-[0-9a-f]{8}\b`, "-HASH"},
		{`\b\d+ of (\d+) machines\b`, "SOME of $1 machines"},
	} {
		line = regexp.MustCompile(replacement.pattern).ReplaceAllString(line, replacement.with)
	}
	return line
}

// isLike reports whether a line is that of a sample, in which ... stands for any text. Both are normalized.
func isLike(line, sample string) bool {
	parts := strings.Split(sample, "...")
	for i, part := range parts {
		parts[i] = regexp.QuoteMeta(strings.TrimSpace(part))
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(line)
}

// nearest returns the three lines that have most words in common with a sample, without repetitions.
func nearest(lines []string, sample string) []string {
	words := strings.Fields(sample)
	common := func(line string) int {
		n := -len(strings.Fields(line))
		for word := range strings.FieldsSeq(line) {
			if slices.Contains(words, word) {
				n += 3
			}
		}
		return n
	}
	lines = slices.Clone(lines)
	slices.SortStableFunc(lines, func(a, b string) int { return cmp.Compare(common(b), common(a)) })
	var different []string
	for _, line := range lines {
		if len(different) < 3 && !slices.Contains(different, line) {
			different = append(different, line)
		}
	}
	return different
}

func TestNormalize(t *testing.T) {
	for sentence, c := range map[string]struct{ line, want string }{
		"progress":               {"  worker/demo   Create  Processing  ██████████░░░░░░░░░░  50 %  waiting", "worker/demo Create Processing PROGRESS"},
		"seconds in a sentence":  {"  9 calls to the cloud, 1 login among them, in 2.9 s", "9 calls to the cloud, 1 login among them, in SECONDS"},
		"writes of progress":     {"  no call to the cloud, in 2.0 s; 2 writes to the API server, and 1 of progress", "no call to the cloud, in SECONDS; 2 writes to the API server"},
		"seconds of a step":      {"  ✓ routes       5 routes, e.g. 100.96.4.0/24 via 10.250.0.6  12 s", "✓ routes 5 routes, e.g. ADDRESS via ADDRESS"},
		"a machine":              {"shoot--dev--demo-cpu-z1-78546-6zbnh  zone-a  10.250.0.5", "shoot--dev--demo-cpu-z1-MACHINE zone-a ADDRESS"},
		"a hash and a date":      {"├─ server-f32ba247  certificate by ca-6a1a1e13, until 2036-11-20", "├─ server-HASH certificate by ca-HASH, until DATE"},
		"a server group":         {"4f39e36d-612d-40be-632bc346     server group, 3 members", "ID server group, 3 members"},
		"a fingerprint":          {"key pair 66:3d:7e:c4:32:14:06:a4:92:3f:80:67:6a:d1:c8:da", "key pair FINGERPRINT"},
		"a version stays":        {"openstack-cloud-controller-manager:v1.36.0", "openstack-cloud-controller-manager:v1.36.0"},
		"a number of machines":   {"(pool cpu: 1 of 3 machines joined; pool mem", "(pool cpu: SOME of 3 machines joined; pool mem"},
		"the number of requests": {"8 requests", "8 requests"},
	} {
		t.Run(sentence, func(t *testing.T) { assert.Equal(t, c.want, normalize(c.line)) })
	}
}

func TestIsLike(t *testing.T) {
	assert.True(t, isLike("a (b; c d)", "a (b; ...)"))
	assert.True(t, isLike("a: b", "a: ..."))
	assert.False(t, isLike("a: b", "a:"))
	assert.False(t, isLike("a", "."))
}

func TestNearest(t *testing.T) {
	lines := []string{"", "the cloud is empty", "the cloud is full", "the cloud is full", "a router", "the seed is full of resources"}
	assert.Equal(t, []string{"the cloud is full", "the seed is full of resources", "the cloud is empty"}, nearest(lines, "the clouds is full"))
}
