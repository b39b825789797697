package infrastructure

import "context"

// Delete calls the driver to remove the shoot's own resources. The inputs are not validated: the resources must be removed whatever the
// configuration is by now.
func (a *actuator) Delete(ctx context.Context, rec *reconciliation) error {
	driver, shoot, err := a.prepare(ctx, rec)
	if err != nil {
		return err
	}
	return driver.Delete(ctx, shoot, rec.StateRecorder)
}
