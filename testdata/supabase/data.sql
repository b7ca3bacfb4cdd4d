--
-- PostgreSQL database dump
--

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET session_replication_role = replica;

--
-- Data for Name: audit_log_entries; Type: TABLE DATA; Schema: auth; Owner: supabase_auth_admin
--

COPY auth.audit_log_entries (instance_id, id, payload, created_at, ip_address) FROM stdin;
00000000-0000-0000-0000-000000000000	5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0100	{"action":"user_signedup","actor_id":"5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0001","actor_username":"ada@example.com","actor_via_sso":false,"log_type":"team","traits":{"provider":"email"}}	2024-05-01 10:00:00.123456+00	
\.


--
-- Data for Name: users; Type: TABLE DATA; Schema: auth; Owner: supabase_auth_admin
--

COPY auth.users (instance_id, id, aud, role, email, encrypted_password, email_confirmed_at, invited_at, confirmation_token, confirmation_sent_at, recovery_token, recovery_sent_at, email_change_token_new, email_change, email_change_sent_at, last_sign_in_at, raw_app_meta_data, raw_user_meta_data, is_super_admin, created_at, updated_at, phone, phone_confirmed_at, phone_change, phone_change_token, phone_change_sent_at, email_change_token_current, email_change_confirm_status, banned_until, reauthentication_token, reauthentication_sent_at, is_sso_user, deleted_at, is_anonymous) FROM stdin;
00000000-0000-0000-0000-000000000000	5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0001	authenticated	authenticated	ada@example.com	$2a$10$qpN89lxA7hU71KlCq35QCe5LrD7jAn7BQJjQL/a.4GW2uBCiA/U0q	2024-05-01 10:00:00.123456+00	\N		\N		\N			\N	2024-05-01 10:00:00.123456+00	{"provider": "email", "providers": ["email"]}	{"username": "ada", "full_name": "Ada; 'L'"}	\N	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	\N	\N			\N		0	\N		\N	f	\N	f
00000000-0000-0000-0000-000000000000	5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0002	authenticated	authenticated	bob@example.com	$2a$10$qpN89lxA7hU71KlCq35QCe5LrD7jAn7BQJjQL/a.4GW2uBCiA/U0q	\N	\N		\N		\N			\N	2024-05-01 10:00:00.123456+00	{"provider": "email", "providers": ["email"]}	{"username": "bob"}	\N	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	\N	\N			\N		0	\N		\N	f	\N	f
\.


--
-- Data for Name: identities; Type: TABLE DATA; Schema: auth; Owner: supabase_auth_admin
--

COPY auth.identities (provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at, id) FROM stdin;
5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0001	5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0001	{"sub": "5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0001", "email": "ada@example.com", "email_verified": true, "phone_verified": false}	email	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0201
5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0002	5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0002	{"sub": "5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0002", "email": "bob@example.com", "email_verified": true, "phone_verified": false}	email	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0202
\.


--
-- Data for Name: sessions; Type: TABLE DATA; Schema: auth; Owner: supabase_auth_admin
--

COPY auth.sessions (id, user_id, created_at, updated_at, factor_id, aal, not_after, refreshed_at, user_agent, ip, tag) FROM stdin;
5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0301	5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0001	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	\N	aal1	\N	\N	Mozilla/5.0	203.0.113.7	\N
\.


--
-- Data for Name: refresh_tokens; Type: TABLE DATA; Schema: auth; Owner: supabase_auth_admin
--

COPY auth.refresh_tokens (instance_id, id, token, user_id, revoked, created_at, updated_at, parent, session_id) FROM stdin;
00000000-0000-0000-0000-000000000000	41	v2q7xk3p9mzt	5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0001	f	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	\N	5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0301
\.


--
-- Data for Name: mfa_factors; Type: TABLE DATA; Schema: auth; Owner: supabase_auth_admin
--

COPY auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret, phone, last_challenged_at, web_authn_credential, web_authn_aaguid) FROM stdin;
5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0501	5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0001	phone app	totp	verified	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP	\N	\N	\N	\N
\.


--
-- Data for Name: mfa_amr_claims; Type: TABLE DATA; Schema: auth; Owner: supabase_auth_admin
--

COPY auth.mfa_amr_claims (session_id, created_at, updated_at, authentication_method, id) FROM stdin;
5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0301	2024-05-01 10:00:00.123456+00	2024-05-01 10:00:00.123456+00	password	5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0401
\.


--
-- Data for Name: schema_migrations; Type: TABLE DATA; Schema: auth; Owner: supabase_auth_admin
--

COPY auth.schema_migrations (version) FROM stdin;
20171026211738
20240729123726
\.


--
-- Data for Name: profiles; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.profiles (id, username, full_name, updated_at) FROM stdin;
5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0001	ada	Ada; 'L'	\N
5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0002	bob	\N	\N
\.


--
-- Data for Name: todos; Type: TABLE DATA; Schema: public; Owner: postgres
--

COPY public.todos (id, user_id, task, is_complete, inserted_at) FROM stdin;
1	5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0001	Write the engine	t	2024-05-01 10:00:00.123456+00
2	5b1f8f0e-3c1a-4d6b-9a57-0d9f6a1c0002	Read the notes	f	2024-05-01 10:00:00.123456+00
\.


--
-- Name: refresh_tokens_id_seq; Type: SEQUENCE SET; Schema: auth; Owner: supabase_auth_admin
--

SELECT pg_catalog.setval('auth.refresh_tokens_id_seq', 41, true);


--
-- Name: todos_id_seq; Type: SEQUENCE SET; Schema: public; Owner: postgres
--

SELECT pg_catalog.setval('public.todos_id_seq', 2, true);


--
-- PostgreSQL database dump complete
--

RESET ALL;
