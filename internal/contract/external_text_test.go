package contract_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/contract"
	"github.com/trellis-garden/trellis/internal/truncate"
)

// longExternalText is more than the API server accepts in one object, with a terminal escape near its beginning.
func longExternalText() string { return "quota \x1b[31m" + strings.Repeat("exceeded ", 600_000) }

// assertTruncated checks that a text of the status is truncated.
func assertTruncated(t *testing.T, text, beginning string) {
	t.Helper()
	assert.LessOrEqual(t, len(text), truncate.MaxStatus)
	assert.True(t, strings.HasPrefix(text, beginning), "it begins with %.60q", text)
	assert.NotContains(t, text, "\x1b")
}

// A response of megabytes must not prevent the report of its error, or of later progress.
func TestStatus_LongExternalText(t *testing.T) {
	t.Run("an error is cut in status and log and keeps its code", func(t *testing.T) {
		s := newEnvironment(t, &actuator{reconcile: func(context.Context, *reconciliation) error {
			return fmt.Errorf("creating network: %w", cloud.Errorf(cloud.QuotaExceeded, "%s", longExternalText()))
		}})
		s.options.Retry.Base, s.options.Retry.Max = 50*time.Millisecond, time.Hour
		s.run()
		s.deploy(v1beta1constants.GardenerOperationReconcile)
		o := s.wait(func(o *object) error { return errorUnless(o.Status.LastError != nil, "no error yet") })
		assertTruncated(t, o.Status.LastError.Description, "creating network: quota  [31mexceeded exceeded")
		assertTruncated(t, o.Status.LastOperation.Description, "creating network: quota  [31mexceeded exceeded")
		assert.Equal(t, []gardencorev1beta1.ErrorCode{gardencorev1beta1.ErrorInfraQuotaExceeded}, o.Status.LastError.Codes)
		s.wait(func(*object) error { return errorUnless(len(s.journal.Failures()) > 0, "nothing logged yet") })
		for _, line := range s.journal.Failures() {
			assert.Less(t, len(line), truncate.MaxStatus+1024, "a line of the log")
		}
	})
	t.Run("a panic is cut", func(t *testing.T) {
		s := newEnvironment(t, &actuator{reconcile: func(context.Context, *reconciliation) error { panic(errors.New(longExternalText())) }})
		s.options.Retry.Base, s.options.Retry.Max = time.Hour, time.Hour
		s.run()
		s.deploy(v1beta1constants.GardenerOperationReconcile)
		o := s.wait(func(o *object) error { return errorUnless(o.Status.LastError != nil, "no error yet") })
		assertTruncated(t, o.Status.LastError.Description, "internal error")
	})
	t.Run("what is waited for is cut, and so is a success with messages", func(t *testing.T) {
		end := make(chan struct{})
		s := newEnvironment(t, &actuator{reconcile: func(ctx context.Context, p *reconciliation) error {
			p.Messages = append(p.Messages, longExternalText())
			graph := contract.NewGraph("reconciling infrastructure")
			graph.Add(contract.Task{Name: "ensuring router", Do: func(ctx context.Context) error {
				return contract.WaitUntil(ctx, func(context.Context) (string, error) {
					select {
					case <-end:
						return "", nil
					default:
						return longExternalText(), nil
					}
				})
			}})
			return p.StateRecorder.Run(ctx, graph)
		}})
		s.run()
		s.deploy(v1beta1constants.GardenerOperationReconcile)
		o := s.wait(func(o *object) error {
			return errorUnless(o.Status.LastOperation != nil && strings.HasPrefix(o.Status.LastOperation.Description, "ensuring router ("), "no progress yet")
		})
		assertTruncated(t, o.Status.LastOperation.Description, "ensuring router (quota  [31mexceeded")
		assert.Less(t, len(o.Status.LastOperation.Description), truncate.MaxExternal+100, "one task leaves room for others")
		close(end)
		assertTruncated(t, s.ready().Status.LastOperation.Description, "Create of infrastructure succeeded; quota  [31mexceeded")
	})
}
