package garden

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gardener/gardener/pkg/logger"
	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// runner runs a manager of controllers.
type runner struct {
	name  string
	end   context.CancelFunc
	ended chan error
	once  sync.Once
	err   error
}

// run starts a manager and waits until its caches are synced.
func run(ctx context.Context, name string, mgr manager.Manager) (*runner, error) {
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	r := &runner{name: name, end: end, ended: make(chan error, 1)}
	go func() { r.ended <- mgr.Start(running) }()
	select {
	case <-mgr.Elected(): // closed once all caches are filled and the controllers are started, also without any election
		return r, nil
	case err := <-r.ended:
		end()
		return nil, fmt.Errorf("starting %s: %w", name, err)
	case <-ctx.Done():
		end()
		return nil, fmt.Errorf("starting %s: %w", name, errors.Join(ctx.Err(), <-r.ended))
	}
}

// stop stops the manager and waits until all of its controllers have ended.
func (r *runner) stop() error {
	r.once.Do(func() {
		r.end()
		select {
		case err := <-r.ended:
			if err != nil {
				r.err = fmt.Errorf("running %s: %w", r.name, err)
			}
		case <-time.After(stopTimeout):
			r.err = fmt.Errorf("%s did not end within %s", r.name, stopTimeout)
		}
	})
	return r.err
}

// logTo returns a logger that writes to the file <name>.log of a folder, which must exist until the process ends.
func logTo(dir, name string) (logr.Logger, error) {
	file, err := os.Create(filepath.Join(dir, name+".log"))
	if err != nil {
		return logr.Discard(), fmt.Errorf("creating the log of %s: %w", name, err)
	}
	return logger.NewZapLogger(logger.InfoLevel, logger.FormatText, zap.WriteTo(file))
}
