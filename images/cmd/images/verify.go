package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/trellis-garden/trellis/images/internal/signing"
	"github.com/trellis-garden/trellis/images/internal/verifier"
)

func runVerify(ctx context.Context, args []string, out, problems io.Writer) int {
	var keyFile string
	flags := flag.NewFlagSet("images verify", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&keyFile, "key", "", "")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, usage)
		return 0
	case err == nil && (keyFile == "" || flags.NArg() == 0):
		err = errors.New("verify needs --key and an archive or an image")
		fallthrough
	case err != nil:
		fmt.Fprintf(problems, "images: %v\nTry \"images --help\".\n", err)
		return exitUsage
	}
	if err := verifyAll(ctx, keyFile, flags.Args(), out); err != nil {
		fmt.Fprintf(problems, "images: %v\n", err)
		return exitFailed
	}
	return 0
}

func verifyAll(ctx context.Context, keyFile string, subjects []string, out io.Writer) error {
	file, err := os.ReadFile(keyFile)
	if err != nil {
		return fmt.Errorf("--key: %w", err)
	}
	key, err := signing.ReadPublicKey(file)
	if err != nil {
		return fmt.Errorf("--key %s: %w", keyFile, err)
	}
	return verifier.All(ctx, key, subjects, out)
}
