// Package signals ends a process when it is told to. It knows nothing of what the process does.
package signals

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Context returns a context that ends with the first SIGTERM or SIGINT. The second one does what it does by default, which ends the process
// at once, however soon it comes. A process calls it once.
func Context() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-signals
		cancel()
		second := <-signals
		signal.Reset(syscall.SIGTERM, syscall.SIGINT)
		if number, ok := second.(syscall.Signal); ok {
			_ = syscall.Kill(os.Getpid(), number)
		}
	}()
	return ctx
}
