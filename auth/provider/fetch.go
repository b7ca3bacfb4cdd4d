package provider

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"

	"golang.org/x/oauth2"
)

// These servers have an interface of their own that says who a token's user is.

func fetchGitHub(ctx context.Context, p *Provider, token *oauth2.Token) (Profile, error) {
	address := p.preset.endpoints(p.base).Userinfo
	said := claims{}
	if err := p.get(ctx, address, token.AccessToken, &said); err != nil {
		return Profile{}, err
	}
	// The address of the profile is what the user shows, not what GitHub has verified.
	var emails []claims
	if err := p.get(ctx, address+"/emails", token.AccessToken, &emails); err != nil {
		return Profile{}, err
	}
	email, verified := "", false
	slices.SortStableFunc(emails, func(a, b claims) int { return rank(b) - rank(a) })
	if len(emails) > 0 {
		email, verified = emails[0].text("email"), emails[0].flag("verified")
	}
	return newProfile(said.text("id"), email, verified, fields{
		name: said.text("name"), fullName: said.text("name"), picture: said.text("avatar_url"),
		preferred: said.text("login"), user: said.text("login"),
	}), nil
}

// rank prefers the primary address, then one that is verified.
func rank(email claims) (rank int) {
	if email.flag("primary") {
		rank += 2
	}
	if email.flag("verified") {
		rank++
	}
	return rank
}

func fetchGitLab(ctx context.Context, p *Provider, token *oauth2.Token) (Profile, error) {
	said := claims{}
	if err := p.get(ctx, p.preset.endpoints(p.base).Userinfo, token.AccessToken, &said); err != nil {
		return Profile{}, err
	}
	return newProfile(said.text("id"), said.text("email"), said.text("confirmed_at") != "", fields{
		name: said.text("name"), fullName: said.text("name"), picture: said.text("avatar_url"),
		preferred: said.text("username"), user: said.text("username"),
	}), nil
}

func fetchDiscord(ctx context.Context, p *Provider, token *oauth2.Token) (Profile, error) {
	said := claims{}
	if err := p.get(ctx, p.preset.endpoints(p.base).Userinfo, token.AccessToken, &said); err != nil {
		return Profile{}, err
	}
	picture := ""
	if avatar := said.text("avatar"); avatar != "" {
		picture = "https://cdn.discordapp.com/avatars/" + url.PathEscape(said.text("id")) + "/" + url.PathEscape(avatar) + ".png"
	}
	name := said.first("global_name", "username")
	return newProfile(said.text("id"), said.text("email"), said.flag("verified"), fields{
		name: name, fullName: said.text("username"), picture: picture, preferred: said.text("username"),
		custom: map[string]any{"global_name": said.text("global_name")},
	}), nil
}

// fetchFacebook proves with each call that it knows the app's secret, so that a token of another app is of no use.
func fetchFacebook(ctx context.Context, p *Provider, token *oauth2.Token) (Profile, error) {
	proof := hmac.New(sha256.New, []byte(p.config.ClientSecret))
	proof.Write([]byte(token.AccessToken))
	query := url.Values{
		"fields":          {"id,email,name,first_name,last_name,picture"},
		"appsecret_proof": {hex.EncodeToString(proof.Sum(nil))},
	}
	said := claims{}
	if err := p.get(ctx, p.preset.endpoints(p.base).Userinfo+"?"+query.Encode(), token.AccessToken, &said); err != nil {
		return Profile{}, err
	}
	return newProfile(said.text("id"), said.text("email"), true, fields{
		name: said.text("name"), fullName: said.text("name"), nickname: said.text("name"), given: said.text("first_name"),
		family: said.text("last_name"), picture: said.inner("picture").inner("data").text("url"),
	}), nil
}

func fetchX(ctx context.Context, p *Provider, token *oauth2.Token) (Profile, error) {
	query := url.Values{"user.fields": {"id,name,username,confirmed_email,profile_image_url,url,created_at"}}
	answer := claims{}
	if err := p.get(ctx, p.preset.endpoints(p.base).Userinfo+"?"+query.Encode(), token.AccessToken, &answer); err != nil {
		return Profile{}, err
	}
	said := answer.inner("data")
	return newProfile(said.text("id"), said.text("confirmed_email"), true, fields{
		name: said.text("name"), fullName: said.text("name"), picture: said.text("profile_image_url"),
		preferred: said.text("username"), user: said.text("username"), website: said.text("url"),
		custom: map[string]any{"created_at": said.text("created_at")},
	}), nil
}
