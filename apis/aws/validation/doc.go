// Package validation holds pure validation of AWS's provider configurations and credentials: functions from a configuration, and what it has to fit, to
// errors with field paths and messages that say what to do.
//
// It must not know clusters or clouds: what only AWS can answer is for the controllers to check.
package validation
