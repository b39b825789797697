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
	// tale is how much of a description is shown; the rest is in the object.
	tale = 110
)

// watched is an extension object that is shown while somebody works on it.
type watched struct {
	// name is how it is called on the screen.
	name string
	get  func(context.Context) (extensionsv1alpha1.Object, error)
}

// show does something and shows the object meanwhile: on a terminal as a table that is refreshed in place, else as a line for
// everything that changes.
func (d *demo) show(ctx context.Context, object watched, do func(context.Context) error) error {
	last := object.row(ctx)
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()

	heading := d.screen.Styled(terminal.Dim, fmt.Sprintf(columns, "OBJECT", "OPERATION", "STATE", pad("PROGRESS", barWidth), "", "TASK"))
	block := d.screen.Block()
	for {
		select {
		case err := <-done:
			block.End(d.lastRows(ctx, object, heading, last)...)
			return err
		case <-time.After(glance):
		}
		row := object.row(ctx)
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
func (d *demo) lastRows(ctx context.Context, object watched, heading, last string) []string {
	row := object.row(ctx)
	if !d.screen.IsLive() {
		if row == last || row == "" {
			return nil
		}
		return []string{row}
	}
	if row == "" {
		row = fmt.Sprintf("  %s is gone", object.name)
	}
	return []string{heading, row, ""}
}

// row describes the object as it is now, or nothing when it does not exist or nobody looks any more.
func (w watched) row(ctx context.Context) string {
	object, err := w.get(ctx)
	if apierrors.IsNotFound(err) || ctx.Err() != nil {
		return ""
	}
	if err != nil {
		return "  " + err.Error()
	}
	return rowOf(w.name, object.GetExtensionStatus().GetLastOperation())
}

func rowOf(name string, operation *gardencorev1beta1.LastOperation) string {
	if operation == nil {
		operation = &gardencorev1beta1.LastOperation{Type: "-", State: gardencorev1beta1.LastOperationStatePending}
	}
	return strings.TrimRight(fmt.Sprintf(columns, name, operation.Type, operation.State,
		bar(operation.Progress), fmt.Sprintf("%d %%", operation.Progress), cut(operation.Description, tale)), " ")
}

// cut shortens a text to a number of characters.
func cut(text string, most int) string {
	if characters := []rune(text); len(characters) > most {
		return string(characters[:most-1]) + "…"
	}
	return text
}

func bar(percent int32) string {
	full := int(percent) * barWidth / 100
	return strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
}

// pad fills a text up to a number of characters.
func pad(text string, width int) string { return text + strings.Repeat(" ", max(0, width-len(text))) }
