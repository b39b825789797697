package stack

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRunTasks_Dependencies(t *testing.T) {
	var mutex sync.Mutex
	var order []string
	do := func(name string, needs ...string) task {
		return task{name, needs, func(context.Context) error {
			mutex.Lock()
			defer mutex.Unlock()
			order = append(order, name)
			return nil
		}}
	}
	reported := map[string]bool{}
	err := runTasks(t.Context(), []task{do("roof", "walls"), do("walls", "ground"), do("ground")}, func(name string, _ time.Duration) {
		mutex.Lock()
		defer mutex.Unlock()
		reported[name] = true
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"ground", "walls", "roof"}, order)
	assert.Len(t, reported, 3)
}

func TestRunTasks_Failure(t *testing.T) {
	broken := errors.New("the ground gives way")
	err := runTasks(t.Context(), []task{
		{"ground", nil, func(context.Context) error { return broken }},
		{"garden", nil, func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }},
		{"walls", []string{"ground"}, func(context.Context) error { t.Error("there is no ground"); return nil }},
	}, func(string, time.Duration) {})
	assert.ErrorIs(t, err, broken)
}

func TestRunTasks_UnknownDependency(t *testing.T) {
	err := runTasks(t.Context(), []task{{"roof", []string{"walls"}, nil}}, nil)
	assert.ErrorContains(t, err, "roof needs walls, which is no task")
}

func TestPlan(t *testing.T) {
	l := newTestLayout(t)
	var mutex sync.Mutex
	done := map[string]bool{}
	plan := l.plan("", io.Discard)
	for i := range plan {
		plan[i].do = func(context.Context) error { return nil }
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(t, runTasks(ctx, plan, func(name string, _ time.Duration) {
		mutex.Lock()
		defer mutex.Unlock()
		done[name] = true
	}), "no task waits for ever")
	for _, d := range l.daemons() {
		assert.True(t, done[d.name], d.name)
	}
}
