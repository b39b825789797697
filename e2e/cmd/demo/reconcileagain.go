package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/terminal"
)

// maxNoOpWrites is the number of writes of a reconciliation without changes: it removes the operation annotation, and writes the status.
const maxNoOpWrites = 2

// reconcileAgain reconciles once more without changes, and prints the controller's writes.
func (d *demo) reconcileAgain(ctx context.Context, controller string, object shownObject, do func(context.Context) error) error {
	d.screen.Heading("gardenlet reconciles again, without changes")
	// Gardener compares the times of requests and results by whole seconds.
	if err := sleep(ctx, time.Second); err != nil {
		return err
	}
	before, err := d.writesOf(controller)
	if err != nil {
		return err
	}
	cost, err := d.measure(ctx, object, do)
	if err != nil {
		return err
	}
	writes, err := d.settledWrites(ctx, controller)
	if err != nil {
		return err
	}
	all := writes[len(before):]
	writes = audit.WithoutProgress(all)
	progress := ""
	if n := len(all) - len(writes); n > 0 {
		progress = fmt.Sprintf(", and %d of progress", n)
	}
	d.screen.Linef("  %s; %s to the API server%s", cost, count(len(writes), "write"), progress)
	if len(writes) > maxNoOpWrites {
		for _, write := range writes {
			d.screen.Linef("  %s", d.screen.Styled(terminal.Dim, write.String()))
		}
	}
	return nil
}

// settledWrites returns a controller's writes once there are no more.
func (d *demo) settledWrites(ctx context.Context, controller string) ([]audit.Write, error) {
	for last := -1; ; {
		writes, err := d.writesOf(controller)
		if err != nil || len(writes) == last {
			return writes, err
		}
		last = len(writes)
		if err := sleep(ctx, 300*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// writesOf returns a controller's writes in the shoot's namespace that belong to an operation.
func (d *demo) writesOf(controller string) ([]audit.Write, error) {
	writes, err := d.Source.Writes(d.shoot.Namespace())
	return slices.DeleteFunc(writes, func(w audit.Write) bool { return w.User != controller || isAboutHealth(w) }), err
}

// isAboutHealth distinguishes periodic writes of conditions from those of an operation.
func isAboutHealth(write audit.Write) bool {
	var body struct {
		Status map[string]json.RawMessage `json:"status"`
	}
	if json.Unmarshal(write.Body, &body) != nil {
		return false
	}
	_, conditions := body.Status["conditions"]
	return conditions && len(body.Status) == 1
}
