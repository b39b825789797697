package infrastructure

import "context"

// Delete lets the driver remove all that is the shoot's own. The inputs are not validated again: what was created must
// go, whatever the configuration says by now.
func (a *actuator) Delete(ctx context.Context, p *pass) error {
	driver, shoot, err := a.begin(ctx, p)
	if err != nil {
		return err
	}
	return driver.Delete(ctx, shoot, p.Track)
}
