package infrastructure

import "context"

// Delete lets the driver remove all that is the shoot's own. The inputs are not validated again: what was created must
// go, whatever the configuration says by now.
func (a *actuator) Delete(ctx context.Context, rec *reconciliation) error {
	driver, shoot, err := a.prepare(ctx, rec)
	if err != nil {
		return err
	}
	return driver.Delete(ctx, shoot, rec.StateRecorder)
}
