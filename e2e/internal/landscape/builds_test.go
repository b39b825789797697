package landscape

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBuilds(t *testing.T) {
	taking := func(name string, took time.Duration, err error) program {
		return program{name: name, build: func(ctx context.Context) error {
			select {
			case <-time.After(took):
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		}}
	}
	tests := map[string]struct {
		programs []program
		before   time.Duration // until somebody waits
		want     string
		err      string
	}{
		"names each program and how many are left": {
			programs: []program{taking("one", time.Minute, nil), taking("two", 20*time.Second, nil), taking("three", 5*time.Second, nil)},
			before:   10 * time.Second,
			want:     "3 programs left to build, one first\none: 60 s; 2 programs left\ntwo: 20 s; 1 program left\nthree: 5 s; 0 programs left\n",
		},
		"names what ended before": {
			programs: []program{taking("one", time.Minute, nil), taking("two", time.Minute, nil)}, before: 90 * time.Second,
			want: "1 program left to build, two first\none: 60 s; 1 program left\ntwo: 60 s; 0 programs left\n",
		},
		"is silent about programs that are up to date": {
			programs: []program{taking("one", time.Second, nil), taking("two", 0, nil)}, before: time.Minute,
		},
		"fails with the first failure": {
			programs: []program{taking("one", time.Minute, errors.New("does not compile")), taking("two", time.Hour, nil)},
			before:   time.Second, want: "2 programs left to build, one first\n", err: "does not compile",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := startBuilds(t.Context(), test.programs)
				time.Sleep(test.before)
				var output strings.Builder
				err := b.wait(&output)
				b.stop()
				if test.err == "" {
					require.NoError(t, err)
				} else {
					require.ErrorContains(t, err, test.err)
				}
				assert.Equal(t, test.want, output.String())
			})
		})
	}
}

func TestBuilds_Stop(t *testing.T) {
	b := startBuilds(t.Context(), []program{{name: "one", build: func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}}})
	b.stop()
	assert.ErrorIs(t, b.wait(&strings.Builder{}), context.Canceled)
}
