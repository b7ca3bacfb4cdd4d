//! Serves TrailBase on an address, over a folder, with one user.

use axum::{Json, extract::State};
use trailbase::api::{CreateUserRequest, create_user_handler};
use trailbase::{DataDir, Server, ServerOptions};

type Error = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let mut args = std::env::args().skip(1);
    let mut next = || args.next().ok_or("usage: trail ADDRESS FOLDER EMAIL PASSWORD");
    let (address, folder, email, password) = (next()?, next()?, next()?, next()?);
    let options = ServerOptions {
        data_dir: DataDir(folder.into()),
        address,
        ..Default::default()
    };
    let server = Server::init_with_custom_initializer(options, async move |state| {
        let user = CreateUserRequest {
            email,
            password,
            verified: true,
            admin: false,
        };
        create_user_handler(State(state), Json(user))
            .await
            .map_err(|err| err.to_string())?;
        Ok(())
    })
    .await?;
    server.serve().await
}
