package buildinfo

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFromToolchain(t *testing.T) {
	tests := map[string]struct {
		recorded *debug.BuildInfo
		want     Info
	}{
		"a binary without any record is unknown in every field": {
			recorded: nil,
			want:     Info{Version: "unknown", Commit: "unknown", Date: "unknown"},
		},
		"a binary built outside a repository has only the module's version": {
			recorded: &debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}},
			want:     Info{Version: "v0.1.0", Commit: "unknown", Date: "unknown"},
		},
		"a binary built from a changed tree says so": {
			recorded: &debug.BuildInfo{
				Main: debug.Module{Version: "(devel)"},
				Settings: []debug.BuildSetting{
					{Key: "vcs.revision", Value: "1f2e3d4"},
					{Key: "vcs.time", Value: "2026-01-02T03:04:05Z"},
					{Key: "vcs.modified", Value: "true"},
				},
			},
			want: Info{Version: "(devel)", Commit: "1f2e3d4-dirty", Date: "2026-01-02T03:04:05Z"},
		},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			assert.Equal(t, test.want, fromToolchain(test.recorded))
		})
	}
}

func TestRead_NoEmptyFields(t *testing.T) {
	info := Read()
	assert.NotEmpty(t, info.Version)
	assert.NotEmpty(t, info.Commit)
	assert.NotEmpty(t, info.Date)
	assert.Contains(t, info.String(), info.Version)
}
