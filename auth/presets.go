package auth

import (
	"context"
	"slices"

	"basalt/auth/provider"
)

// isPreset tells whether a provider is built in.
func isPreset(name string) bool { return slices.Contains(provider.Names(), name) }

// Presets lists the built-in providers that administrators have set.
func (s *Service) Presets(ctx context.Context) ([]*CustomProvider, error) {
	return s.storedProviders(ctx, CustomPreset)
}

// presetsOn lists those that count: neither switched off by an administrator nor by the settings.
func (s *Service) presetsOn(ctx context.Context) ([]*CustomProvider, error) {
	presets, err := s.Presets(ctx)
	return slices.DeleteFunc(presets, func(c *CustomProvider) bool {
		return !c.Enabled || slices.Contains(s.options.Providers.Off, c.Identifier)
	}), err
}

// CreatePreset sets a built-in provider.
func (s *Service) CreatePreset(ctx context.Context, caller Caller, in CustomProviderChange, record Record[*CustomProvider]) (*CustomProvider, error) {
	in.Type = CustomPreset
	if in.Name == nil {
		in.Name = &in.Identifier
	}
	return s.storeProvider(ctx, caller, in, record)
}
