package api

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// reloadSignals begins to listen for the signals by which PostgREST reloads its schema cache and its configuration.
func reloadSignals() chan os.Signal {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGUSR2)
	return signals
}

// reload loads the catalog anew on each signal until ctx ends. The settings of roles belong to it; our own need a restart.
func (s *Server) reload(ctx context.Context, signals chan os.Signal) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case received := <-signals:
			if err := s.project.Catalogs.Reload(ctx); err != nil {
				s.log.Warn().Err(err).Str("signal", received.String()).Msg("cannot load the catalog; the last one serves on")
				continue
			}
			s.log.Info().Str("signal", received.String()).Msg("looked for changes of the catalog")
		}
	}
}
