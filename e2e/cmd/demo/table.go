package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/trellis-garden/trellis/e2e/internal/terminal"
)

const (
	glance   = 50 * time.Millisecond
	barWidth = 20
	columns  = "  %-22s %-10s %-11s %s %5s  %s"
)

// show does something and shows the Infrastructure meanwhile: on a terminal as a table that is refreshed in place, else as
// a line for everything that changes.
func (d *demo) show(ctx context.Context, do func(context.Context) error) error {
	last := d.row(ctx)
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()

	heading := d.screen.Styled(terminal.Dim, fmt.Sprintf(columns, "OBJECT", "OPERATION", "STATE", pad("PROGRESS", barWidth), "", "TASK"))
	block := d.screen.Block()
	for {
		select {
		case err := <-done:
			block.End(d.lastRows(ctx, heading, last)...)
			return err
		case <-time.After(glance):
		}
		row := d.row(ctx)
		switch {
		case row == "" || row == last:
		case d.screen.IsLive():
			block.Update(heading, row)
		default:
			d.screen.Linef("%s", row)
		}
		last = row
	}
}

// lastRows is what stays on the screen.
func (d *demo) lastRows(ctx context.Context, heading, last string) []string {
	row := d.row(ctx)
	if !d.screen.IsLive() {
		if row == last || row == "" {
			return nil
		}
		return []string{row}
	}
	if row == "" {
		row = fmt.Sprintf("  infrastructure/%s is gone", d.shoot.Name)
	}
	return []string{heading, row, ""}
}

// row describes the Infrastructure as it is now, or nothing when it does not exist.
func (d *demo) row(ctx context.Context) string {
	object, err := d.Gardenlet.Get(ctx, d.shoot)
	if apierrors.IsNotFound(err) {
		return ""
	}
	if err != nil {
		return "  " + err.Error()
	}
	return rowOf(object)
}

func rowOf(object *extensionsv1alpha1.Infrastructure) string {
	name := "infrastructure/" + object.Name
	operation := object.Status.LastOperation
	if operation == nil {
		operation = &gardencorev1beta1.LastOperation{Type: "-", State: gardencorev1beta1.LastOperationStatePending}
	}
	return strings.TrimRight(fmt.Sprintf(columns, name, operation.Type, operation.State,
		bar(operation.Progress), fmt.Sprintf("%d %%", operation.Progress), operation.Description), " ")
}

func bar(percent int32) string {
	full := int(percent) * barWidth / 100
	return strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
}

// pad fills a text up to a number of characters.
func pad(text string, width int) string { return text + strings.Repeat(" ", max(0, width-len(text))) }
